# hypre, whose BoomerAMG is a preconditioner; without it, everything else works. It speaks MPI itself and must have been built
# with the MPI in use: Debian's was built with Open MPI, so it is not looked for with another.
option(AYATORI_HYPRE "Use hypre where it is found and fits the MPI" ON)
set(AYATORI_HAS_HYPRE OFF)
if(AYATORI_HYPRE AND NOT AYATORI_SMPI AND "${MPI_CXX_LIBRARIES}" MATCHES "openmpi")
  find_path(HYPRE_INCLUDE_DIR HYPRE.h PATH_SUFFIXES hypre)
  find_library(HYPRE_LIBRARY HYPRE)
  mark_as_advanced(HYPRE_INCLUDE_DIR HYPRE_LIBRARY)
  if(HYPRE_INCLUDE_DIR AND HYPRE_LIBRARY)
    set(AYATORI_HAS_HYPRE ON)
  endif()
endif()

# ayatori_use_hypre(target): hypre for a target, if there is one.
function(ayatori_use_hypre target)
  if(AYATORI_HAS_HYPRE)
    target_include_directories(${target} SYSTEM PRIVATE ${HYPRE_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE ${HYPRE_LIBRARY} MPI::MPI_CXX)
    target_compile_definitions(${target} PRIVATE AYATORI_HAS_HYPRE)
  endif()
endfunction()
