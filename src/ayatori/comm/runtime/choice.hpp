#pragma once

namespace ayatori::comm {

/// Chooses the transport, once in a process, before MPI begins: the library that AYATORI_MPI_LIBRARY names
/// ("none": this process by itself); an MPI that is loaded already, as by mpi4py; where a launcher has
/// started several ranks, an MPI that is found beside this library or by the loader; otherwise `single`.
/// Throws EnvironmentError where ranks have been started and no MPI is found: they would each solve the
/// whole.
void choose_transport();

/// After MPI has begun: throws EnvironmentError where the launcher has started more ranks than it knows of.
void check_launched_ranks();

/// Throws EnvironmentError where the application has begun another MPI than the one in use.
void check_is_the_only_mpi();

}  // namespace ayatori::comm
