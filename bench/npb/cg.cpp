#include "bench/npb/cg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/memory.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/pattern/pattern.hpp"

namespace ayatori::bench {

namespace {

constexpr int inner_iterations = 25;
constexpr double tolerance = 1e-10;  ///< tolerance for zeta and for residuals

/// Collective. A rank's share of the memory that its node could still hand out.
double free_bytes(const comm::Comm& comm) {
  return static_cast<double>(available_memory()) / comm.split_by_node().size();
}

/// Collective. Kernels that can hold this rank's rows in its memory, and on all other ranks theirs; without
/// the reference.
std::vector<std::string> able_kernels(const comm::Comm& comm, const sparse::Csr& interior) {
  const double free = free_bytes(comm);
  const auto kernels = sparse::kernels();
  std::vector<std::int64_t> able(kernels.size());
  comm::agree(comm, [&] {
    const auto facts = sparse::pattern_facts(interior);
    std::ranges::transform(kernels, able.begin(), [&](const auto& kernel) {
      const auto bytes = kernel.predicted_bytes(facts);
      return bytes && static_cast<double>(*bytes) < free ? 1 : 0;
    });
  });
  comm.allreduce(std::span(able), comm::ReduceOp::min);
  std::vector<std::string> names;
  for (std::size_t k = 1; k < kernels.size(); ++k) {
    if (able[k] != 0) names.emplace_back(kernels[k].name);
  }
  return names;
}

bool is_open(const std::string& option) {
  return option == "auto";
}

}  // namespace

void check(const NpbCgOptions& options) {
  if (!is_open(options.kernel)) sparse::kernel(options.kernel);
  if (!is_open(options.halo)) sparse::halo_strategy(options.halo);
  if (!is_open(options.reductions) && options.reductions != "1" && options.reductions != "2")
    throw InputError(
        fmt::format("an iteration of CG has 1 or 2 reductions, or auto, not '{}'", options.reductions));
  if (options.outer_iterations < 0)
    throw InputError(fmt::format("{} outer iterations: there must be some", options.outer_iterations));
}

void require_memory(const NpbClass& size, int ranks, const std::string& kernel, double free) {
  const auto bytes = npb_bytes(size, ranks);
  const bool is_half = kernel.starts_with("symmetric") && ranks == 1;
  const double stored = is_half ? bytes.matrix / 2 : bytes.matrix;
  const double vectors = 8 * static_cast<double>(size.rows) * (6.0 / ranks + (ranks > 1 ? 2 : 0));
  const double needed = bytes.matrix + std::max(bytes.making, stored + vectors);
  if (needed <= free) return;
  throw EnvironmentError(fmt::format(
      "class {} has {:.3g} million nonzeros, for which each of {} rank{} needs about {:.3g} GB, and "
      "{:.3g} are free: use more nodes{}",
      size.name, 1e-6 * bytes.nonzeros, ranks, ranks == 1 ? "" : "s", 1e-9 * needed, 1e-9 * free,
      ranks == 1 && !is_half ? ", or --kernel symmetric-tiles, which stores half" : ""));
}

NpbCg::NpbCg(const comm::Comm& comm, const NpbClass& size, const NpbCgOptions& options)
    : comm_(comm),
      size_(size),
      outer_iterations_(options.outer_iterations > 0 ? options.outer_iterations : size.iterations),
      sum_(comm) {
  check(options);
  const double free = free_bytes(comm);
  comm::agree(comm, [&] { require_memory(size, comm.size(), options.kernel, free); });
  const Stopwatch making;
  parts_ = std::make_shared<const sparse::SplitMatrix>(npb_matrix(comm, size));
  nonzeros_ = comm.allreduce(parts_->interior.nonzeros() + parts_->halo.nonzeros(), comm::ReduceOp::sum);
  making_seconds_ = comm.allreduce(making.seconds(), comm::ReduceOp::max);
  const Stopwatch racing;
  comm::agree(comm, [&] {
    for (Array<double>* vector : {&x_, &z_, &r_, &p_, &q_, &w_}) {
      vector->resize(parts_->plan.local_size);
      solvers::fill(*vector, 1);  // touched by the threads that will use it
    }
  });
  const std::string halo = is_open(options.halo) ? "p2p-irecv-first" : options.halo;
  if (is_open(options.kernel))
    race_kernels(halo);
  else
    use_alone({options.kernel, halo});
  if (is_open(options.halo) && comm.size() > 1) race_halos();
  if (is_open(options.reductions))
    race_reductions();
  else
    reductions_ = options.reductions == "1" ? 1 : 2;
  racing_seconds_ = comm.allreduce(racing.seconds(), comm::ReduceOp::max);
}

void NpbCg::use_alone(const sparse::ProductOptions& options) {
  matrix_.reset();
  matrix_ = std::make_unique<sparse::DistributedMatrix>(comm_, parts_, options);
}

double NpbCg::time_product() {
  constexpr int calls = 4;  // the first is a warm-up
  double best = std::numeric_limits<double>::infinity();
  for (int call = 0; call < calls; ++call) {
    comm_.barrier();
    const Stopwatch watch;
    matrix_->apply(x_, q_);
    const double seconds = comm_.allreduce(watch.seconds(), comm::ReduceOp::max);
    if (call > 0) best = std::min(best, seconds);
  }
  return best;
}

template <class Use>
void NpbCg::try_product(const char* item, const sparse::ProductOptions& options, const Use& use, double& best,
                        sparse::ProductOptions& chosen) {
  try {
    use(options);
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    left_out_.push_back(fmt::format(
        "{} {}: {}", item, item == std::string("halo") ? options.halo : options.kernel, error.what()));
    return;  // a kernel that cannot hold what a sample promised, a strategy that this machine cannot do
  }
  const double seconds = time_product();
  race_.push_back({item, item == std::string("halo") ? options.halo : options.kernel, seconds});
  if (seconds < best) {
    best = seconds;
    chosen = options;
  }
}

void NpbCg::race_kernels(const std::string& halo) {
  sparse::ProductOptions chosen{"csr", halo};
  double best = std::numeric_limits<double>::infinity();
  const auto use = [&](const sparse::ProductOptions& options) { use_alone(options); };
  for (const auto& kernel : able_kernels(comm_, parts_->interior))
    try_product("kernel", {kernel, halo}, use, best, chosen);
  if (!matrix_ || matrix_->options() != chosen) use_alone(chosen);
}

void NpbCg::race_halos() {
  sparse::ProductOptions chosen = matrix_->options();
  double best = std::numeric_limits<double>::infinity();
  const auto use = [&](const sparse::ProductOptions& options) { matrix_->use(options); };
  for (const auto& halo : sparse::halo_strategies()) {
    for (const char* suffix : {"", "+overlap"})
      try_product("halo", {chosen.kernel, std::string(halo.name) + suffix}, use, best, chosen);
    matrix_->use(chosen);
    matrix_->forget_unused();
  }
}

void NpbCg::race_reductions() {
  double best = std::numeric_limits<double>::infinity();
  int chosen = reductions_;
  for (const int reductions : {2, 1}) {
    reductions_ = reductions;
    start();
    comm_.barrier();
    const Stopwatch watch;
    outer_iteration();
    const double seconds = comm_.allreduce(watch.seconds(), comm::ReduceOp::max);
    race_.push_back({"reductions", std::to_string(reductions), seconds});
    if (seconds < best) {
      best = seconds;
      chosen = reductions;
    }
  }
  reductions_ = chosen;
}

void NpbCg::start() {
  solvers::fill(x_, 1);
}

void NpbCg::iterate_with_two_reductions() {
  solvers::copy(x_, r_);
  solvers::copy(x_, p_);
  double rho = sum_(solvers::local_dot(r_, r_));
  for (int k = 0; k < inner_iterations; ++k) {
    matrix_->apply(p_, q_);
    const double alpha = rho / sum_(solvers::local_dot(p_, q_));
    const double next = sum_(solvers::axpy_square(-alpha, q_, r_));
    solvers::axpy_aypx(alpha, p_, z_, next / rho, r_);
    rho = next;
  }
}

void NpbCg::iterate_with_one_reduction() {
  solvers::copy(x_, r_);
  solvers::fill(p_, 0);
  solvers::fill(q_, 0);
  double alpha = 0;
  double rho = 0;
  double local_square = solvers::local_dot(r_, r_);
  for (int k = 0; k < inner_iterations; ++k) {
    matrix_->apply(r_, w_);
    std::array<double, 2> sums{local_square, solvers::local_dot(r_, w_)};
    sum_(sums);
    const auto [square, curvature] = sums;
    const double beta = k == 0 ? 0 : square / rho;
    solvers::axpy_aypx(alpha, p_, z_, beta, r_);
    alpha = square / (k == 0 ? curvature : curvature - beta * square / alpha);
    rho = square;
    local_square = solvers::aypx_axpy_square(beta, w_, q_, -alpha, r_);
  }
  solvers::axpy(alpha, p_, z_);
}

NpbCg::Sums NpbCg::outer_iteration() {
  solvers::fill(z_, 0);
  if (reductions_ == 1)
    iterate_with_one_reduction();
  else
    iterate_with_two_reductions();
  matrix_->apply(z_, q_);
  solvers::subtract(x_, q_, r_);
  std::array<double, 3> sums{};
  solvers::local_products({{x_, z_}, {z_, z_}, {r_, r_}}, sums);
  sum_(sums);
  const double norm = std::sqrt(sums[1]);
  parallel_for(static_cast<std::int64_t>(x_.size()), [&](std::int64_t i) { x_[i] = z_[i] / norm; });
  return {sums[0], sums[1], std::sqrt(sums[2])};
}

CgBreakdown NpbCg::spent(double seconds) const {
  const auto& product = matrix_->seconds();
  return {product.total - product.halo, product.halo, seconds - product.total - sum_.seconds(),
          sum_.seconds()};
}

NpbCgRun NpbCg::run() {
  start();
  outer_iteration();
  start();
  const CgBreakdown before = spent(0);
  NpbCgRun run;
  comm_.barrier();
  const Stopwatch watch;
  Sums sums{};
  for (int k = 0; k < outer_iterations_; ++k) sums = outer_iteration();
  run.seconds = watch.seconds();
  const CgBreakdown after = spent(run.seconds);
  run.zeta = size_.shift + 1 / sums.xz;
  run.residual_norm = sums.residual;
  run.all_iterations = outer_iterations_ == size_.iterations;
  std::array<double, 4> parts{after.product - before.product, after.exchange - before.exchange,
                              after.vectors - before.vectors, after.reductions - before.reductions};
  comm_.allreduce(std::span<double>(parts), comm::ReduceOp::sum);
  for (double& part : parts) part /= comm_.size();
  run.breakdown = {parts[0], parts[1], parts[2], parts[3]};
  run.seconds = comm_.allreduce(run.seconds, comm::ReduceOp::max);
  const double row_products = size_.vector_nonzeros * (size_.vector_nonzeros + 1.0);
  const double operations = 2.0 * outer_iterations_ * static_cast<double>(size_.rows) *
                            (3 + row_products + inner_iterations * (5 + row_products) + 3);
  run.mops = 1e-6 * operations / run.seconds;
  comm::agree(comm_, [&] { verify(run); });
  return run;
}

void NpbCg::verify(const NpbCgRun& run) const {
  // x is all ones at first, and of length 1 then.
  const double length = outer_iterations_ == 1 ? std::sqrt(static_cast<double>(size_.rows)) : 1;
  if (!(run.residual_norm <= tolerance * length))
    throw InternalError(
        fmt::format("class {}: ||x - A z|| is {:.3g}, of x {:.3g}", size_.name, run.residual_norm, length));
  if (!run.all_iterations || std::abs(run.zeta - size_.reference_zeta) <= tolerance * size_.reference_zeta)
    return;
  throw InternalError(fmt::format("class {}: zeta is {:.13f}, and {:.13f} by the specification", size_.name,
                                  run.zeta, size_.reference_zeta));
}

std::int64_t NpbCg::products() const {
  return std::int64_t{inner_iterations + 1} * outer_iterations_;
}

std::int64_t NpbCg::sums() const {
  const std::int64_t before = reductions_ == 1 ? 0 : 1;  // (r, r) of the first residual
  return (before + std::int64_t{inner_iterations} * reductions_ + 1) * outer_iterations_;
}

std::int64_t NpbCg::vector_bytes() const {
  // As vector_ops.hpp counts them: of an inner iteration, and of what is around them.
  const std::int64_t inner = reductions_ == 1 ? 12 : 10;
  const std::int64_t outer = reductions_ == 1 ? 17 : 14;
  return 8 * size_.rows * (inner_iterations * inner + outer) * outer_iterations_;
}

std::int64_t NpbCg::matrix_bytes() const {
  return comm_.allreduce(matrix_->matrix_bytes(), comm::ReduceOp::sum);
}

std::int64_t NpbCg::exchanged_bytes() const {
  return comm_.allreduce(matrix_->parts().plan.bytes_sent(), comm::ReduceOp::sum);
}

}  // namespace ayatori::bench
