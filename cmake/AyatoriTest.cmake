# ayatori_test(name [RANKS n...] [LIBRARIES target...] [LABELS label...] [TIMEOUT s] SOURCES file...)
#
# One GoogleTest program; one ctest entry <name>.np<n> for every rank count. LIBRARIES is ayatori::ayatori unless told.
function(ayatori_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "RANKS;LIBRARIES;LABELS;SOURCES" ${ARGN})
  if(NOT ARG_RANKS)
    set(ARG_RANKS 1)
  endif()
  if(NOT ARG_LIBRARIES)
    set(ARG_LIBRARIES ayatori::ayatori)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE ayatori_test_main ${ARG_LIBRARIES} ayatori_compile_options)
  target_compile_options(test_${name} PRIVATE -O1)  # after the build type's: test code is slow to optimise
  ayatori_unite(test_${name})
  ayatori_precompile_as(test_${name} ayatori_test_main)
  foreach(ranks IN LISTS ARG_RANKS)
    ayatori_mpi_test(${name}.np${ranks} RANKS ${ranks} TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABELS}
                     COMMAND $<TARGET_FILE:test_${name}>)
    set_property(TEST ${name}.np${ranks} APPEND PROPERTY ENVIRONMENT ${AYATORI_LEAK_CHECK})
    if(AYATORI_SMPI)  # smpirun exits with 0 even when it cannot find the program
      set_tests_properties(${name}.np${ranks} PROPERTIES PASS_REGULAR_EXPRESSION PASSED FAIL_REGULAR_EXPRESSION FAILED)
    endif()
  endforeach()
endfunction()

# ayatori_mpi_test(name RANKS n COMMAND program [argument...] [LABELS label...] [TIMEOUT s])
#
# A ctest entry that runs a command on n ranks, labelled np<n> and by its folder.
function(ayatori_mpi_test name)
  cmake_parse_arguments(ARG "" "RANKS;TIMEOUT" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set(threads 1)
  set(processors ${ARG_RANKS})
  if(AYATORI_SMPI)
    set(processors 1)  # all ranks take turns in one process
  elseif(ARG_RANKS EQUAL 1)
    set(threads 2)  # one rank tests threads, several test ranks
    set(processors 2)
  endif()
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(labels ${ARG_LABELS} ${folder} np${ARG_RANKS})
  list(REMOVE_DUPLICATES labels)
  add_test(NAME ${name} COMMAND ${AYATORI_MPIRUN} ${MPIEXEC_NUMPROC_FLAG} ${ARG_RANKS} ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${processors} LABELS "${labels}"
    ENVIRONMENT "OMP_NUM_THREADS=${threads};OMP_WAIT_POLICY=passive;${AYATORI_TEST_ENVIRONMENT}")
endfunction()

# ayatori_ranks_label(variable ranks): the labels np<ranks>, and long for three, of a program that is driven from outside: other
# numbers show nearly all of it.
function(ayatori_ranks_label variable ranks)
  set(label "np${ranks}")
  if(ranks EQUAL 3)
    list(APPEND label long)
  endif()
  set(${variable} ${label} PARENT_SCOPE)
endfunction()

# ayatori_fuzz_test(name [CORPUS folder] [LIBRARIES target...] SOURCES file...)
#
# A libFuzzer program (preset fuzz, target fuzz_tests); its ctest entry fuzz_<name> runs for AYATORI_FUZZ_SECONDS from the corpus, which it
# does not change: findings and new inputs stay in the build folder. A few bytes may claim a hundred million rows: these take half a minute.
function(ayatori_fuzz_test name)
  cmake_parse_arguments(ARG "" "CORPUS" "LIBRARIES;SOURCES" ${ARGN})
  if(NOT AYATORI_FUZZ)
    return()
  endif()
  if(NOT ARG_LIBRARIES)
    set(ARG_LIBRARIES ayatori::io)
  endif()
  add_executable(fuzz_${name} ${ARG_SOURCES})
  add_dependencies(fuzz_tests fuzz_${name})
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_LIBRARIES} ayatori_compile_options)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${name})
  file(MAKE_DIRECTORY ${found})
  add_test(NAME fuzz_${name} WORKING_DIRECTORY ${found}
           COMMAND fuzz_${name} -max_total_time=${AYATORI_FUZZ_SECONDS} -rss_limit_mb=4096 -timeout=100
                   -print_final_stats=0 -verbosity=0 ${found} ${ARG_CORPUS})
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 300
    ENVIRONMENT "OMP_NUM_THREADS=1;${AYATORI_TEST_ENVIRONMENT}")
endfunction()
