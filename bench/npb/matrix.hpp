#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::bench {

/// A problem size of the benchmark CG, as the NAS specification sets it.
struct NpbClass {
  std::string_view name;
  std::int64_t rows;      ///< n
  int vector_nonzeros;    ///< nonzeros of each random vector, but for the element that is set
  int iterations;         ///< iterations of the inverse power method
  double shift;           ///< lambda
  double reference_zeta;  ///< what zeta must be, to 1e-10
};

/// S, W, A, B, C and D.
std::span<const NpbClass> npb_classes();

/// The class of this name. Throws InputError that lists them.
const NpbClass& npb_class(std::string_view name);

/// Collective. This rank's rows, of an even partition, of the class's matrix
///   A = sum_i w_i v_i v_i^T + (0.1 - shift) I,   w_i = 0.1^(i / n),   i = 0 ... n - 1
/// (Bailey et al. 1991, section 2.7; `makea` of their program): v_i has `vector_nonzeros` random elements at
/// random places, and 0.5 at place i. Every rank draws all the vectors, of which it keeps those that reach
/// into its rows; memory: about 12 bytes per nonzero of its own, and 32 per element of the
/// vectors kept, of which each has `vector_nonzeros` + 1. The same
/// entries, bitwise, on any number of ranks and threads.
sparse::SplitMatrix npb_matrix(const comm::Comm& comm, const NpbClass& size);

/// What npb_matrix() needs on a rank of this many, by expectation: random places that coincide are not
/// counted.
struct NpbBytes {
  double nonzeros;  ///< those of the whole matrix
  double matrix;    ///< bytes of this rank's share
  double making;    ///< beside it, until it is made
};
NpbBytes npb_bytes(const NpbClass& size, int ranks);

}  // namespace ayatori::bench
