#pragma once

#include <dmumps_c.h>
#include <smumps_c.h>
#include <zmumps_c.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/mpi/fortran_handle.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"

namespace ayatori::solvers::mumps {

/// MUMPS' parameters by their numbers in its manual, which count from 1.
enum Control {
  error_stream = 1,
  warning_stream = 2,
  global_stream = 3,
  verbosity = 4,
  column_permutation = 6,
  ordering = 7,
  which_system = 9,  ///< 1: A x = b, else A^T x = b
  more_memory = 14,
  matrix_distribution = 18,
  right_side_distribution = 20,
  solution_distribution = 21,
  null_pivots = 24,
  low_rank = 35
};
enum class Job { initialize = -1, terminate = -2, analyse = 1, factor = 2, solve = 3 };

#ifdef AYATORI_SEQUENTIAL_MUMPS
constexpr bool is_sequential = true;
#else
constexpr bool is_sequential = false;
#endif

/// What MUMPS takes for the ranks that work: the sequential one knows none.
inline int handle_of(const comm::Comm& workers) {
  constexpr int all_there_are = -987654;
  return is_sequential ? all_there_are : comm::fortran_handle(workers);
}

inline void call(DMUMPS_STRUC_C& data) {
  dmumps_c(&data);
}
/// Factors of matrices whose inverses decay fast hold floats below the normal range, which processors compute
/// with a hundred times more slowly: as long as this lives they are zeros to this thread.
class FlushSubnormals {
 public:
#ifdef __SSE__
  FlushSubnormals() : before_(_mm_getcsr()) {
    constexpr unsigned results_and_operands = 0x8040;
    _mm_setcsr(before_ | results_and_operands);
  }
  ~FlushSubnormals() {
    _mm_setcsr(before_);
  }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned before_;
#endif
};

inline void call(ZMUMPS_STRUC_C& data) {
  zmumps_c(&data);
}

inline void call(SMUMPS_STRUC_C& data) {
  [[maybe_unused]] const FlushSubnormals flush;
  smumps_c(&data);
}

/// MUMPS' names for what it computes with.
template <class Scalar>
struct Arithmetic;
template <>
struct Arithmetic<double> {
  using Data = DMUMPS_STRUC_C;
  using Real = double;
  using Number = double;
  static constexpr int operations = 1;  ///< on real numbers, in one that MUMPS counts
};
template <>
struct Arithmetic<float> {
  using Data = SMUMPS_STRUC_C;
  using Real = float;
  using Number = float;
  static constexpr int operations = 1;
};
template <>
struct Arithmetic<std::complex<double>> {
  using Data = ZMUMPS_STRUC_C;
  using Real = double;
  using Number = mumps_double_complex;  // two doubles, as std::complex is
  static constexpr int operations = 4;
};
template <class Scalar>
auto* as_numbers(Scalar* numbers) {
  return reinterpret_cast<typename Arithmetic<Scalar>::Number*>(numbers);
}

/// An instance of MUMPS (Amestoy, Duff, L'Excellent & Koster 2001), on all ranks or on rank 0, in doubles,
/// floats or complex numbers. Collective: made, used and destroyed by all ranks together.
template <class Scalar>
class Instance {
  using Real = typename Arithmetic<Scalar>::Real;

 public:
  Instance(const comm::Comm& comm, bool symmetric, bool on_one_rank)
      : comm_(comm.duplicate()), workers_(on_one_rank ? comm::Comm::self() : comm_) {
    constexpr int general = 0;
    constexpr int symmetric_indefinite = 2;
    data_.comm_fortran = handle_of(workers_);
    data_.par = 1;  // rank 0 computes, too
    data_.sym = symmetric ? symmetric_indefinite : general;
    run(Job::initialize);
    for (const int stream : {error_stream, warning_stream, global_stream, verbosity}) control(stream) = 0;
    control(null_pivots) = 1;
  }
  ~Instance() { run(Job::terminate); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// The result's code, the same on all ranks; negative: an error.
  int run(Job job) {
    data_.job = static_cast<MUMPS_INT>(job);
    if (!is_on_one_rank() || comm_.rank() == 0) call(data_);
    if (is_on_one_rank() && job != Job::solve) {
      comm_.broadcast(std::span<MUMPS_INT>(data_.infog), 0);
      comm_.broadcast(std::span<Real>(data_.rinfog), 0);
    }
    return info(1);
  }
  int& control(int number) { return data_.icntl[number - 1]; }
  /// The controls that are real numbers.
  Real& real_control(int number) { return data_.cntl[number - 1]; }
  /// INFOG, what MUMPS tells of all ranks.
  int info(int number) const { return data_.infog[number - 1]; }
  /// INFO, what it tells of this rank.
  int own_info(int number) const { return data_.info[number - 1]; }
  auto& data() { return data_; }
  /// On real numbers.
  double operations() const { return Arithmetic<Scalar>::operations * static_cast<double>(data_.rinfog[0]); }
  const comm::Comm& comm() const { return comm_; }
  /// Those of comm() that compute.
  const comm::Comm& workers() const { return workers_; }
  bool is_on_one_rank() const { return workers_.size() < comm_.size(); }

 private:
  comm::Comm comm_;
  comm::Comm workers_;
  typename Arithmetic<Scalar>::Data data_{};
};

/// Solves whose right-hand sides and solutions stay spread over the ranks: none ever holds all of one. MUMPS
/// leaves the elements of the solution where it has eliminated them, and from there they go to the ranks of
/// their rows.
template <class Scalar>
class SpreadSolves {
 public:
  /// Collective. Of an instance that has factored; refers to it. Begins anew after other factors.
  SpreadSolves(Instance<Scalar>& instance, const sparse::RowPartition& partition)
      : instance_(instance), partition_(partition), own_(partition.range(instance.comm().rank())) {
    constexpr int spread_by_user = 10;
    constexpr int spread_by_library = 1;
    instance.control(right_side_distribution) = spread_by_user;
    instance.control(solution_distribution) = spread_by_library;
    rows_.resize(own_.size());
    std::iota(rows_.begin(), rows_.end(), static_cast<MUMPS_INT>(own_.begin + 1));
    constexpr int eliminated_here = 23;
    solution_.resize(std::max(instance.own_info(eliminated_here), 1));
    solution_row_.resize(solution_.size());
  }

  /// Collective. b becomes the solution; of each rank its rows.
  void solve(std::span<Scalar> b) {
    auto& data = instance_.data();
    const auto size = static_cast<MUMPS_INT>(b.size());
    Scalar nothing = 0;  // MUMPS wants addresses
    MUMPS_INT no_row = 0;
    data.nrhs = 1;
    data.nloc_rhs = size;
    data.lrhs_loc = std::max<MUMPS_INT>(size, 1);
    data.rhs_loc = as_numbers(size > 0 ? b.data() : &nothing);
    data.irhs_loc = size > 0 ? rows_.data() : &no_row;
    data.sol_loc = as_numbers(solution_.data());
    data.isol_loc = solution_row_.data();
    data.lsol_loc = static_cast<MUMPS_INT>(solution_.size());
    instance_.run(Job::solve);
    if (starts_.empty()) plan();
    for (std::size_t k = 0; k < order_.size(); ++k) packed_[k] = solution_[order_[k]];
    const auto arrived = instance_.comm().alltoallv(std::span<const Scalar>(packed_), starts_);
    for (std::size_t k = 0; k < places_.size(); ++k) b[places_[k]] = arrived.values[k];
  }

 private:
  /// Collective. Who wants which elements.
  void plan() {
    constexpr int eliminated_here = 23;
    order_.resize(instance_.own_info(eliminated_here));
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::sort(order_, {}, [this](int k) { return solution_row_[k]; });
    starts_.assign(partition_.ranks() + 1, 0);
    std::vector<std::int32_t> rows(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) {
      rows[k] = solution_row_[order_[k]] - 1;
      ++starts_[partition_.owner(rows[k]) + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    packed_.resize(order_.size());
    places_ = instance_.comm().alltoallv(std::span<const std::int32_t>(rows), starts_).values;
    for (std::int32_t& place : places_) place -= static_cast<std::int32_t>(own_.begin);
  }

  Instance<Scalar>& instance_;
  sparse::RowPartition partition_;
  Range own_;
  std::vector<MUMPS_INT> rows_;
  std::vector<Scalar> solution_;
  std::vector<MUMPS_INT> solution_row_;
  std::vector<int> order_;            ///< order of the solution's elements here, by row
  std::vector<std::int64_t> starts_;  ///< each rank's start among them; none before the first solve
  std::vector<Scalar> packed_;
  std::vector<std::int32_t> places_;  ///< places of what arrives
};

}  // namespace ayatori::solvers::mumps
