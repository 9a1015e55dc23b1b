#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "ayatori/eigen/solve.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/eigen/eigen_request.hpp"
#include "ayatori/session/eigen/sparse_eigen.hpp"

namespace ayatori::session {

/// A symmetric matrix: a test matrix by its name, which is made where it is needed; entries, spread by rows;
/// or the elements of a dense one, which every rank can be asked for.
struct EigenMatrix {
  std::string name;
  std::int64_t rows = 0;
  std::optional<io::LoadedMatrix> loaded = {};
  std::function<double(std::int64_t row, std::int64_t column)> element = {};
};

/// Collective. A file, the spec of a generator, or that of a test matrix. Throws InputError, agreed.
EigenMatrix load_eigen_matrix(const comm::Comm& comm, const std::string& source);

/// Eigenvalues and what is known of how they came, by the dense solver or by the sparse one.
struct EigenRun {
  EigenRequest request;
  std::string matrix;
  std::string generalized;  ///< B; empty for A x = lambda x
  std::int64_t rows = 0;
  int ranks = 1;
  int threads = 1;
  std::optional<SparseEigenResult> sparse;
  std::optional<eigen::EigenResult> dense;  ///< one of the two
  eigen::GridShape grid;                    ///< grid of the dense solver
  std::int64_t block = 0;
  std::string tables;                ///< tables of schedules; empty without
  std::int64_t scheduled_calls = 0;  ///< collective calls of rank 0 that went by them
  double read_seconds = 0;           ///< time to read and to spread
  double total_seconds = 0;

  std::span<const double> values() const;  ///< ascending, on every rank
  const eigen::ColumnSpread& vectors() const;
  /// Whether residuals, orthogonality and moments are what they should be.
  bool passed() const;
};

/// Collective. Pairs of A x = lambda x, or with `b`, symmetric positive definite, of A x = lambda B x:
/// verified. A few pairs of a sparse matrix come by products where that is expected to be faster than making
/// it dense. `wants_stop`: asked by the sparse solver. Throws InputError, agreed.
EigenRun solve_eigen(const Session& session, EigenMatrix a, std::optional<EigenMatrix> b,
                     const EigenRequest& request, const std::function<bool()>& wants_stop = {});

/// The summary for people.
std::string summary(const EigenRun& run);

/// Schema "ayatori.eigen/1".
nlohmann::ordered_json to_json(const EigenRun& run);

}  // namespace ayatori::session
