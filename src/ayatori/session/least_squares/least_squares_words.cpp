#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ayatori/base/printable.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/session/least_squares.hpp"

namespace ayatori::session {

namespace {

const char* status_of(const LeastSquaresRun& run) {
  if (run.solves) return "solved";
  if (run.is_least_squares) return "least-squares";
  return "not-proved";
}

std::string_view how_it_ended(const LeastSquaresRun& run) {
  return run.rounds == 0 ? "x = 0 will do" : solvers::name_of(run.last.stop);
}

std::string claim_of(const LeastSquaresRun& run) {
  if (run.solves)
    return fmt::format("A x = b is solved: ||r|| = {:.3e} ||b|| <= {:.0e}, proved",
                       run.b_norm > 0 ? run.r.value / run.b_norm : 0.0, run.rtol);
  if (run.is_least_squares)
    return fmt::format("a least-squares solution: ||A^T r|| = {:.3e} ||A|| ||r|| <= {:.0e}, proved",
                       run.relative_normal(), run.rtol);
  return fmt::format(
      "not proved to be a least-squares solution: ||A^T r|| = {:.3e} ||A|| ||r||, wanted {:.0e}",
      run.relative_normal(), run.rtol);
}

}  // namespace

std::string summary(const LeastSquaresRun& run) {
  return fmt::format(
      "matrix     {}: {} x {}, {} nonzeros\n"
      "result     {}\n"
      "residual   ||{}|| = {:.6e} of ||b|| = {:.6e}; ||x|| = {:.6e}\n"
      "method     LSMR{}, {} iterations ({}), condition number {:.1e} or more\n"
      "time       {:.3f} s, and {:.3f} s to read, on {} rank{}\n",
      printable(run.source.name), run.rows, run.columns, run.nonzeros, claim_of(run),
      run.damp > 0 ? "b - A x, damp x" : "r", run.r.value, run.b_norm, run.x_norm,
      run.preconditioner == "none" ? "" : fmt::format(" + {} of A^T A", run.preconditioner), run.iterations,
      how_it_ended(run), run.last.condition, run.seconds, run.read_seconds, run.ranks,
      run.ranks == 1 ? "" : "s");
}

std::string explanation(const LeastSquaresRun& run) {
  const char* const shape = run.rows > run.columns   ? "There are more equations than unknowns"
                            : run.rows < run.columns ? "There are fewer equations than unknowns"
                                                     : "There are as many equations as unknowns";
  std::string text = fmt::format(
      "{}. Wanted is the x that makes ||b - A x|| smallest, and of several {}.\n"
      "LSMR (Fong and Saunders 2011) started from x = 0 and made {} products with A and with A^T, in {} "
      "round{}.\n"
      "r = b - A x was then summed in twice the digits. It is {:.3e}, wrong by {:.1e} at most.\n"
      "At a least-squares solution A^T r vanishes. Its norm is {:.3e}, wrong by {:.1e} at most.\n",
      shape, run.preconditioner == "none" ? "the shortest" : "any", run.iterations, run.rounds,
      run.rounds == 1 ? "" : "s", run.r.value, run.r.error_bound, run.normal.value, run.normal.error_bound);
  if (run.damp > 0)
    text += fmt::format(
        "With --damp {:g}, A stands for [A; damp I] and b for [b; 0]: ||b - A x||^2 + damp^2 ||x||^2 is "
        "smallest.\n",
        run.damp);
  for (const auto& note : run.notes) text += fmt::format("The preconditioner: {}.\n", note);
  if (run.solves) text += "The residual meets the tolerance: this x solves the equations themselves.\n";
  if (!run.solves && run.is_least_squares)
    text += fmt::format(
        "With ||A|| >= {:.3e} (power method, rounding taken off) that meets the tolerance: no x nearby "
        "leaves less than ||r||.\n",
        run.matrix_norm);
  if (!run.passed())
    text += fmt::format(
        "That does not meet the tolerance. LSMR ended by: {}. Its iterations grow with the condition number, "
        "{:.1e} or more. {}, more iterations (--max-iterations), a larger --rtol, or --damp may help.\n",
        how_it_ended(run), run.last.condition,
        run.preconditioner == "none" ? "A preconditioner (--preconditioner jacobi, ic or direct)"
                                     : "Another preconditioner");
  return text;
}

nlohmann::ordered_json to_json(const LeastSquaresRun& run) {
  return {{"schema", "ayatori.least-squares/1"},
          {"version", version},
          {"matrix", printable(run.source.name)},
          {"rows", run.rows},
          {"columns", run.columns},
          {"nonzeros", run.nonzeros},
          {"rhs", run.rhs},
          {"damp", run.damp},
          {"preconditioner", run.preconditioner},
          {"rtol", run.rtol},
          {"status", status_of(run)},
          {"proved", run.passed()},
          {"iterations", run.iterations},
          {"rounds", run.rounds},
          {"stop", how_it_ended(run)},
          {"norms",
           {{"b", run.b_norm},
            {"x", run.x_norm},
            {"r", run.r.value},
            {"r_error_bound", run.r.error_bound},
            {"normal", run.normal.value},
            {"normal_error_bound", run.normal.error_bound},
            {"a_lower_bound", run.matrix_norm}}},
          {"relative_normal", run.relative_normal()},
          {"condition_lower_bound", run.last.condition},
          {"ranks", run.ranks},
          {"seconds",
           {{"read", run.read_seconds},
            {"setup", run.setup_seconds},
            {"solve", run.seconds},
            {"total", run.total_seconds}}},
          {"output", run.output}};
}

}  // namespace ayatori::session
