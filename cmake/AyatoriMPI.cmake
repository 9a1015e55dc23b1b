# MPI::MPI_CXX and MPIEXEC_EXECUTABLE. SimGrid's smpicxx is itself the MPI compiler; looking for another would find one.
# AYATORI_MPI=runtime has a header of its own in place of an MPI's, and opens a library when the program runs (src/ayatori/comm/runtime).
if(AYATORI_MPI STREQUAL runtime)
  add_library(MPI::MPI_CXX INTERFACE IMPORTED)
  target_include_directories(MPI::MPI_CXX INTERFACE ${PROJECT_SOURCE_DIR}/src/ayatori/comm/runtime)
  target_compile_definitions(MPI::MPI_CXX INTERFACE AYATORI_RUNTIME_MPI)
  target_link_libraries(MPI::MPI_CXX INTERFACE ${CMAKE_DL_LIBS})
elseif(AYATORI_SMPI)
  find_program(MPIEXEC_EXECUTABLE smpirun REQUIRED)
  set(MPIEXEC_NUMPROC_FLAG -np)
  add_library(MPI::MPI_CXX INTERFACE IMPORTED)
else()
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
