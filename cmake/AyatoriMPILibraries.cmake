# Libraries that speak MPI themselves; without them, everything else works. They must have been built with the MPI in use:
# Debian's were built with Open MPI, so they are not looked for with another.
set(AYATORI_MPI_LIBRARIES "")  # those found

# ayatori_find_mpi_library(NAME header library): adds it to them where option AYATORI_NAME is on and it is there.
function(ayatori_find_mpi_library name header library)
  if(AYATORI_${name} AND NOT AYATORI_SMPI AND "${MPI_CXX_LIBRARIES}" MATCHES "openmpi")
    string(TOLOWER ${name} folder)
    find_path(${name}_INCLUDE_DIR ${header} PATH_SUFFIXES ${folder})
    find_library(${name}_LIBRARY ${library})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    if(${name}_INCLUDE_DIR AND ${name}_LIBRARY)
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
ayatori_find_mpi_library(MUMPS dmumps_c.h dmumps)
option(AYATORI_HYPRE "Use hypre, for its BoomerAMG, where it is found and fits the MPI" ON)
ayatori_find_mpi_library(HYPRE HYPRE.h HYPRE)
