#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "bench/npb/matrix.hpp"

namespace ayatori::bench {

/// How the benchmark CG is run; "auto" is raced before the timed part.
struct NpbCgOptions {
  std::string kernel = "auto";      ///< a name from sparse::kernels()
  std::string halo = "auto";        ///< a name from sparse::halo_strategies(), with or without "+overlap"
  std::string reductions = "auto";  ///< messages to all in an inner iteration: "1" or "2"
  int outer_iterations = 0;         ///< that are timed; 0: as many as the class has
};

/// Throws InputError for names that do not exist and numbers that cannot be.
void check(const NpbCgOptions& options);

/// Throws EnvironmentError if one of `ranks`, which has `free` bytes of memory, cannot hold its share of the
/// matrix, once as it is made and once as a kernel stores it, and the vectors.
void require_memory(const NpbClass& size, int ranks, const std::string& kernel, double free);

/// Seconds of one run, means of the ranks; a wait for others is counted where it is spent, in an exchange or
/// a reduction.
struct CgBreakdown {
  double product = 0;     ///< multiplying
  double exchange = 0;    ///< exchanging elements of the vector before it, as far as not overlapped
  double vectors = 0;     ///< vector operations
  double reductions = 0;  ///< sums over ranks

  double total() const { return product + exchange + vectors + reductions; }
  double communication() const { return exchange + reductions; }
};

/// What was tried before the timed part.
struct RaceEntry {
  std::string item;  ///< "kernel", "halo" or "reductions"
  std::string name;
  double seconds;  ///< a product, or an outer iteration where reductions are raced; slowest rank
};

/// A run of the benchmark.
struct NpbCgRun {
  double seconds = 0;  ///< the timed part, slowest rank
  double mops = 0;     ///< 10^6 operations per second, as NAS counts them
  double zeta = 0;
  double residual_norm = 0;    ///< ||x - A z|| of the last outer iteration
  bool all_iterations = true;  ///< so that zeta is the specification's
  CgBreakdown breakdown;
};

/// CG of the NAS parallel benchmarks: the smallest eigenvalue of a random sparse matrix by inverse iteration,
///   z = A^-1 x by 25 iterations of CG,  zeta = shift + 1 / (x, z),  x = z / ||z||.
/// With one reduction in an inner iteration p^T A p comes from r^T A r by recurrence (Chronopoulos & Gear
/// 1989), with two it is summed on its own. Traffic of the vector operations of an inner iteration: 10
/// doubles per row with two reductions, 12 with one.
class NpbCg {
 public:
  /// Collective. Makes the matrix and chooses what is left open; kernels are raced one by one, each alone in
  /// memory, as far as they fit there. Throws Error, agreed.
  NpbCg(const comm::Comm& comm, const NpbClass& size, const NpbCgOptions& options = {});

  /// Collective. One run: an untimed outer iteration, then the timed ones. Throws InternalError (agreed)
  /// unless ||x - A z|| <= 1e-10 ||x|| and, after as many iterations as the class has, zeta is within 1e-10
  /// of the specification's.
  NpbCgRun run();

  const sparse::ProductOptions& product() const { return matrix_->options(); }
  int reductions() const { return reductions_; }
  const std::vector<RaceEntry>& race() const { return race_; }
  /// What could not take part, and why.
  const std::vector<std::string>& left_out() const { return left_out_; }
  double making_seconds() const { return making_seconds_; }  ///< time to make the matrix, slowest rank
  double racing_seconds() const { return racing_seconds_; }
  std::int64_t nonzeros() const { return nonzeros_; }         ///< those of the whole matrix
  int outer_iterations() const { return outer_iterations_; }  ///< in a run
  std::int64_t products() const;                              ///< in a run
  std::int64_t sums() const;                                  ///< over ranks, in a run
  std::int64_t vector_bytes() const;     ///< that vector operations move in a run, all ranks
  std::int64_t matrix_bytes() const;     ///< Collective. As stored, all ranks.
  std::int64_t exchanged_bytes() const;  ///< Collective. Sent by all ranks for a product.

 private:
  struct Sums {
    double xz, zz, residual;
  };

  void use_alone(const sparse::ProductOptions& options);
  void race_kernels(const std::string& halo);
  void race_halos();
  void race_reductions();
  double time_product();
  template <class Use>
  void try_product(const char* item, const sparse::ProductOptions& options, const Use& use, double& best,
                   sparse::ProductOptions& chosen);
  void verify(const NpbCgRun& run) const;
  Sums outer_iteration();
  void iterate_with_two_reductions();
  void iterate_with_one_reduction();
  void start();
  CgBreakdown spent(double seconds) const;

  comm::Comm comm_;
  const NpbClass& size_;
  int outer_iterations_;
  solvers::GlobalSum sum_;
  std::shared_ptr<const sparse::SplitMatrix> parts_;
  std::unique_ptr<sparse::DistributedMatrix> matrix_;
  std::int64_t nonzeros_ = 0;
  Array<double> x_, z_, r_, p_, q_, w_;
  int reductions_ = 2;
  std::vector<RaceEntry> race_;
  std::vector<std::string> left_out_;
  double making_seconds_ = 0;
  double racing_seconds_ = 0;
};

}  // namespace ayatori::bench
