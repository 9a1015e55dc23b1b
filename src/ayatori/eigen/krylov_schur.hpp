#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/eigen/krylov_basis.hpp"

namespace ayatori::eigen {

/// Which eigenvalues of an unsymmetric operator are wanted; of imaginary parts the magnitude counts.
enum class SpectrumPart {
  largest_magnitude,
  smallest_magnitude,
  largest_real,
  smallest_real,
  largest_imaginary,
  smallest_imaginary
};

struct KrylovSchurOptions {
  std::int64_t count = 1;
  SpectrumPart which = SpectrumPart::largest_magnitude;
  std::int64_t basis = 0;         ///< vectors of it; 0: max(2 count + 1, 20)
  double tolerance = 0;           ///< bound on ||A V - V T||, relative to |theta|; 0: what rounding leaves
  std::int64_t max_restarts = 0;  ///< 0: 10 n
  std::span<const double> start = {};     ///< this rank's rows of the first vector; none: a random one
  std::function<bool()> wants_stop = {};  ///< asked at every restart; true on one rank ends it on all
};

/// A V = V T. Conjugate pairs are not parted: there may be one vector more than wanted.
struct InvariantSpace {
  std::int64_t size = 0;  ///< vectors of what has converged
  Array<double> vectors;  ///< V: this rank's rows, a column after the other; orthonormal in the inner product
  Small t{0, 0};          ///< in real Schur form, the most wanted eigenvalues first, on every rank
  bool converged = false;  ///< as many as were wanted
  bool interrupted = false;
  std::int64_t products = 0;
  std::int64_t restarts = 0;
};

/// Collective. The space of wanted eigenvalues of an operator, symmetric or not, by the Krylov-Schur method
/// (Stewart 2001) with full orthogonalization. Of an eigenvalue with several eigenvectors it may find one.
/// Throws InputError for counts that make no sense.
InvariantSpace krylov_schur(const comm::Comm& comm, const ProjectedOperator& a,
                            const KrylovSchurOptions& options);

}  // namespace ayatori::eigen
