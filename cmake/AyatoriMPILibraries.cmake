# Libraries that speak MPI themselves; without them, everything else works. They must have been built with the MPI in use:
# Debian's were built with Open MPI, so they are not looked for with another.
set(AYATORI_MPI_LIBRARIES "")  # those found

# ayatori_find_mpi_library(NAME header library ...): adds it to them where option AYATORI_NAME is on and it is there.
function(ayatori_find_mpi_library name header)
  if(AYATORI_${name} AND NOT AYATORI_SMPI AND "${MPI_CXX_LIBRARIES}" MATCHES "openmpi")
    string(TOLOWER ${name} folder)
    find_path(${name}_INCLUDE_DIR ${header} PATH_SUFFIXES ${folder})
    mark_as_advanced(${name}_INCLUDE_DIR)
    set(found "")
    foreach(library IN LISTS ARGN)
      find_library(${name}_${library} ${library})
      mark_as_advanced(${name}_${library})
      if(${name}_${library})
        list(APPEND found ${${name}_${library}})
      endif()
    endforeach()
    list(LENGTH ARGN asked)
    list(LENGTH found had)
    if(${name}_INCLUDE_DIR AND asked EQUAL had)
      set(${name}_LIBRARY ${found} PARENT_SCOPE)
      set(AYATORI_MPI_LIBRARIES ${AYATORI_MPI_LIBRARIES} ${name} PARENT_SCOPE)
    endif()
  endif()
endfunction()

# ayatori_use_mpi_libraries(target): those found, for a target.
function(ayatori_use_mpi_libraries target)
  foreach(name IN LISTS AYATORI_MPI_LIBRARIES)
    target_include_directories(${target} SYSTEM PRIVATE ${${name}_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE ${${name}_LIBRARY} MPI::MPI_CXX)
    target_compile_definitions(${target} PRIVATE AYATORI_HAS_${name})
  endforeach()
endfunction()

option(AYATORI_MUMPS "Use MUMPS, the direct solver, where it is found and fits the MPI" ON)
ayatori_find_mpi_library(MUMPS dmumps_c.h dmumps smumps)
option(AYATORI_HYPRE "Use hypre, for its BoomerAMG, where it is found and fits the MPI" ON)
ayatori_find_mpi_library(HYPRE HYPRE.h HYPRE)
