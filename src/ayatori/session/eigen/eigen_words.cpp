#include <fmt/format.h>

#include <algorithm>

#include "ayatori/session/eigen.hpp"

namespace ayatori::session {

namespace {

std::string lines_of(std::span<const double> values, const char* title) {
  constexpr std::size_t in_line = 5;
  std::string text;
  for (std::size_t first = 0; first < values.size(); first += in_line) {
    std::string line = fmt::format("{:<11}", first == 0 ? title : "");
    const auto here = values.subspan(first, std::min(in_line, values.size() - first));
    for (const double value : here) line += fmt::format("{:<18.10g}", value);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

/// Lines with eigenvalues: all of a few, else the first ten and the last ten.
std::string value_lines(std::span<const double> values) {
  constexpr std::size_t at_an_end = 10;
  if (values.size() <= 2 * at_an_end) return lines_of(values, "values");
  return lines_of(values.first(at_an_end), "values") +
         fmt::format("           ... {} more\n", values.size() - 2 * at_an_end) +
         lines_of(values.last(at_an_end), "");
}

std::string describe_precision(const EigenRun& run) {
  const int steps = run.dense->refinement_steps;
  if (run.request.precision != "mixed") return run.request.precision;
  if (run.dense->precision == eigen::Precision::mixed)
    return fmt::format("mixed: float and {} refinement{}", steps, steps == 1 ? "" : "s");
  return fmt::format("mixed: {} refinement{} did not converge, so all again in double", steps,
                     steps == 1 ? "" : "s");
}

std::string dense_summary(const EigenRun& run) {
  const eigen::EigenResult& result = *run.dense;
  const auto& times = result.times;
  const auto& check = result.check;
  const auto& values = result.values;
  const bool generalized = !run.generalized.empty();
  std::string text = fmt::format("matrix     {}: {} rows, dense symmetric\n", run.matrix, run.rows);
  if (generalized) text += fmt::format("times      {}: positive definite\n", run.generalized);
  text +=
      fmt::format("machine    {} rank{} x {} thread{}, grid {}x{}\n", run.ranks, run.ranks == 1 ? "" : "s",
                  run.threads, run.threads == 1 ? "" : "s", run.grid.rows, run.grid.columns);
  text += fmt::format("reduction  {}, blocks of {}, precision {}\n", result.reduction, run.block,
                      describe_precision(run));
  text += values.empty()
              ? std::string("result     no eigenvalue in the range\n")
              : fmt::format("result     {} eigen{}, {:.6g} to {:.6g}\n", values.size(),
                            run.request.vectors ? "pairs" : "values", values.front(), values.back());
  text += value_lines(values);
  text += fmt::format("verified   {}: ", check.passed() ? "good" : "NOT GOOD");
  if (run.request.vectors) {
    text += fmt::format(
        fmt::runtime(generalized
                         ? "||A v - lambda B v|| / (n eps (||A|| + |lambda| ||B||) ||v||) {:.2g}, "
                           "|V'BV - I| / (n eps |V| ||B|| |V|) {:.2g}, "
                         : "||A v - lambda v|| / (n eps ||A||) {:.2g}, ||V'V - I|| / (n eps) {:.2g}, "),
        check.residual, check.orthogonality);
  }
  if (generalized) text += fmt::format("reduction {:.2g}, ", check.reduction);
  text += fmt::format("moments {:.2g}; up to {} is good\n", check.moments, eigen::largest_good_ratio);
  text += fmt::format(
      "time       {:.3f} s: {}tridiagonalization {:.3f}, tridiagonal solve {:.3f}, redistribution {:.3f}, "
      "back-transformation {:.3f}{}{}; verification {:.3f} more\n",
      times.total, generalized ? fmt::format("reduction {:.3f}, ", times.reduction) : "",
      times.tridiagonalization, times.tridiagonal_solve, times.redistribution, times.back_transformation,
      generalized ? fmt::format(", back-substitution {:.3f}", times.back_substitution) : "",
      run.request.precision == "mixed" ? fmt::format(", refinement {:.3f}", times.refinement) : "",
      times.verification);
  for (const auto& [operation, cost] : times.collectives) {
    text += fmt::format("           {} {:.3f} s, {} calls, {:.3g} MB\n", operation, cost.seconds, cost.calls,
                        static_cast<double>(cost.bytes) * 1e-6);
  }
  return text;
}

std::string sparse_summary(const EigenRun& run) {
  const SparseEigenResult& result = *run.sparse;
  const auto& values = result.pairs.values;
  const bool good = result.passed();
  return fmt::format(
      "matrix     {}: {} rows, sparse symmetric\n"
      "machine    {} rank{} x {} thread{}\n"
      "method     davidson with preconditioner {}: {}\n"
      "result     {} eigenpairs, {:.6g} to {:.6g}, {} products, {} restarts\n"
      "{}"
      "verified   {}: ||A v - lambda v|| / ||A|| {:.2g} of {:.2g} asked, ||V'V - I|| / (n eps) {:.2g}\n"
      "time       {:.3f} s: set-up {:.3f}, iteration {:.3f}; reading {:.3f}, verification {:.3f} more\n",
      run.matrix, result.n, run.ranks, run.ranks == 1 ? "" : "s", run.threads, run.threads == 1 ? "" : "s",
      result.preconditioner, result.why, values.size(), values.front(), values.back(), result.pairs.products,
      result.pairs.restarts, value_lines(values), good ? "good" : "NOT GOOD", result.check.residual,
      result.tolerance, result.check.orthogonality, result.setup_seconds + result.seconds,
      result.setup_seconds, result.seconds, run.read_seconds, result.verification_seconds);
}

}  // namespace

std::string summary(const EigenRun& run) {
  return run.sparse ? sparse_summary(run) : dense_summary(run);
}

}  // namespace ayatori::session
