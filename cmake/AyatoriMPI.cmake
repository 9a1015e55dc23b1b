# MPI::MPI_CXX and MPIEXEC_EXECUTABLE. SimGrid's smpicxx is itself the MPI compiler; looking for another would find one.
if(AYATORI_SMPI)
  find_program(MPIEXEC_EXECUTABLE smpirun REQUIRED)
  set(MPIEXEC_NUMPROC_FLAG -np)
  add_library(MPI::MPI_CXX INTERFACE IMPORTED)
else()
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
