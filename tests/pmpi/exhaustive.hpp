#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "tests/pmpi/ranks.hpp"

// The program `exhaustive`: every collective operation that schedules can do, compared with what it has to
// give, by subject.

namespace exhaustive {

/// Says what is wrong, and ends the program.
void expect(bool is_right, const std::string& what);

/// Run without schedules (--alone). MPICH 4.0.2 reads from MPI_IN_PLACE in MPI_Reduce of more than some 2000
/// bytes to another root than 0. In MPI_Allgatherv of Open MPI 4.1.4, ranks with different types may choose
/// different algorithms, and hang.
extern bool is_alone;

/// Collective, as all that follows. Types and operations of MPI and of users.
void reductions(MPI_Comm comm);
/// Some of them: vectors of this many elements.
void reductions_of_ints(MPI_Comm comm, const std::vector<int>& counts);
void reductions_of_doubles(MPI_Comm comm, const std::vector<int>& counts);
void user_operations(MPI_Comm comm, const std::vector<int>& counts);

/// Data that moves: types with holes and other orders, MPI_IN_PLACE, nothing at all, every root, blocks of
/// the same length and not.
void moves(MPI_Comm comm);

}  // namespace exhaustive
