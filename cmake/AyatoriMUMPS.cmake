# MUMPS, the direct solver behind the preconditioner `direct`; without it, everything else works. It speaks MPI itself and must
# have been built with the MPI in use: Debian's was built with Open MPI, so it is not looked for with another.
option(AYATORI_MUMPS "Use MUMPS where it is found and fits the MPI" ON)
set(AYATORI_HAS_MUMPS OFF)
if(AYATORI_MUMPS AND NOT AYATORI_SMPI AND "${MPI_CXX_LIBRARIES}" MATCHES "openmpi")
  find_path(MUMPS_INCLUDE_DIR dmumps_c.h)
  find_library(MUMPS_LIBRARY dmumps)
  mark_as_advanced(MUMPS_INCLUDE_DIR MUMPS_LIBRARY)
  if(MUMPS_INCLUDE_DIR AND MUMPS_LIBRARY)
    set(AYATORI_HAS_MUMPS ON)
  endif()
endif()

# ayatori_use_mumps(target): MUMPS for a target, if there is one.
function(ayatori_use_mumps target)
  if(AYATORI_HAS_MUMPS)
    target_include_directories(${target} SYSTEM PRIVATE ${MUMPS_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE ${MUMPS_LIBRARY})
    target_compile_definitions(${target} PRIVATE AYATORI_HAS_MUMPS)
  endif()
endfunction()
