#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/sparse/row_block.hpp"
#include "ayatori/tuning/solve.hpp"
#include "natural.hpp"

// Bytes become a small system with entries over 1e-300 to 1e300 and options; what tuning::solve claims of it
// is held against exact arithmetic.

namespace {

using ayatori::tuning::Natural;
using ayatori::tuning::natural;

const ayatori::comm::Environment* environment = nullptr;

/// Where none are left the ones before decide what follows, at random: few bytes make a whole system.
class Bytes {
 public:
  explicit Bytes(std::span<const unsigned char> left) : left_(left) {}
  int next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;  // Knuth's
    if (left_.empty()) return static_cast<int>(state_ >> 56);
    const int value = left_.front();
    left_ = left_.subspan(1);
    state_ += static_cast<std::uint64_t>(value);
    return value;
  }
  /// One in three is 0, one in three near 1, the others are of any magnitude.
  double number() {
    const int kind = next();
    if (kind % 3 == 0) return 0;
    const double digits = (kind & 64 ? -1 : 1) * (1 + next() / 256.0 + next() / 65536.0);
    return kind % 3 == 1 ? digits : std::ldexp(digits, 8 * (next() % 250) - 1000 + next() % 8);
  }

 private:
  std::span<const unsigned char> left_;
  std::uint64_t state_ = 0;
};

struct System {
  ayatori::sparse::RowBlock block;
  std::vector<double> b;
  std::vector<double> x;
};

System make_system(Bytes& bytes) {
  const int n = 1 + bytes.next() % 8;
  const bool is_symmetric = bytes.next() % 2 == 0;
  std::vector<double> dense(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) dense[i * n + j] = is_symmetric && j < i ? dense[j * n + i] : bytes.number();
  System system;
  system.block.global_rows = system.block.global_columns = n;
  std::vector<std::int64_t> start{0};
  std::vector<std::int64_t> column;
  std::vector<double> value;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (dense[i * n + j] == 0) continue;
      column.push_back(j);
      value.push_back(dense[i * n + j]);
    }
    start.push_back(static_cast<std::int64_t>(column.size()));
    system.b.push_back(bytes.number());
    system.x.push_back(0);
  }
  system.block.row_start.assign(start.begin(), start.end());
  system.block.column.assign(column.begin(), column.end());
  system.block.value.assign(value.begin(), value.end());
  if (bytes.next() % 4 == 0)
    for (double& element : system.x) element = bytes.number();
  return system;
}

ayatori::tuning::SolveOptions make_options(Bytes& bytes) {
  constexpr std::array methods{"",      "",       "cg",     "bicgstab",   "idr",
                               "gmres", "fgmres", "minres", "refined-cg", "refined-gmres"};
  constexpr std::array preconditioners{"",           "",   "none", "jacobi", "ssor",    "block-jacobi",
                                       "block-ilu0", "ic", "ilut", "fsai",   "neumann", "chebyshev",
                                       "amg"};
  ayatori::tuning::SolveOptions options;
  options.rtol = std::ldexp(1 + bytes.next() / 256.0, -2 - bytes.next() % 50);
  options.max_iterations = 1 + bytes.next();
  const std::string method = methods[bytes.next() % methods.size()];
  const std::string preconditioner = preconditioners[bytes.next() % preconditioners.size()];
  if (!method.empty()) options.forced.method = method;
  if (!preconditioner.empty()) options.forced.preconditioner = preconditioner;
  return options;
}

/// ||b - A x||^2 in units of 2^-4296.
Natural residual_squared(const System& system) {
  Natural sum;
  for (std::size_t i = 0; i < system.b.size(); ++i) {
    std::array<Natural, 2> of_sign;  // terms of b - A x, by sign
    of_sign[std::signbit(system.b[i])].add_product(natural(system.b[i]), natural(1));
    for (std::int64_t k = system.block.row_start[i]; k < system.block.row_start[i + 1]; ++k) {
      const double a = system.block.value[k];
      const double x = system.x[system.block.column[k]];
      of_sign[std::signbit(a) == std::signbit(x)].add_product(natural(a), natural(x));
    }
    const Natural r = of_sign[0].distance(of_sign[1]);
    sum.add_product(r, r);
  }
  return sum;
}

/// (factor ||b||)^2 in the same units.
Natural share_of_b(double factor, const System& system) {
  Natural squares;
  for (const double element : system.b) squares.add_product(natural(element), natural(element));
  Natural factor_squared;
  factor_squared.add_product(natural(factor), natural(factor));
  Natural share;
  share.add_product(factor_squared, squares);
  return share;
}

void expect(bool holds, const char* what, const ayatori::tuning::SolveReport& report) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s, relative residual %.17g +- %.3g, backward error %.3g\n", what,
               std::string(name_of(report.status)).c_str(), report.relative_residual,
               report.residual_error_bound, report.backward_error);
  __builtin_trap();  // the MPI catches what abort() raises, and the input would not be kept
}

void check(const System& system, double rtol, const ayatori::tuning::SolveReport& report) {
  for (const double element : system.x) expect(std::isfinite(element), "x is not finite", report);
  expect(std::isfinite(report.relative_residual), "the residual is not finite", report);
  expect(!std::isnan(report.residual_error_bound), "the bound is NaN", report);
  expect(!std::isnan(report.backward_error), "the backward error is NaN", report);
  const Natural exact = residual_squared(system);
  expect(!report.converged() || !(share_of_b(rtol, system) < exact), "a false claim", report);
  bool has_b = false;
  for (const double element : system.b) has_b = has_b || element != 0;
  if (!has_b || !std::isfinite(report.relative_residual) || !std::isfinite(report.residual_error_bound))
    return;
  const double high = std::nextafter(report.relative_residual + report.residual_error_bound, INFINITY);
  const double low = std::nextafter(report.relative_residual - report.residual_error_bound, -INFINITY);
  expect(!std::isfinite(high) || !(share_of_b(high, system) < exact), "more than was said", report);
  expect(low <= 0 || !(exact < share_of_b(low, system)), "less than was said", report);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  environment = new ayatori::comm::Environment(*argc, *argv);  // for as long as the process lives
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  Bytes bytes({data, size});
  const auto options = make_options(bytes);
  System system = make_system(bytes);
  const auto alone = ayatori::comm::Comm::self();
  try {
    const auto parts =
        std::make_shared<const ayatori::sparse::SplitMatrix>(ayatori::sparse::split(alone, system.block));
    const auto report = ayatori::tuning::solve(alone, parts, system.b, system.x, options);
    check(system, options.rtol, report);
  } catch (const ayatori::InputError&) {  // options that contradict each other
  } catch (const ayatori::EnvironmentError&) {
  }
  return 0;
}
