#include "ayatori/session/eigen/eigen_request.hpp"

#include <fmt/format.h>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/session/session_options.hpp"
#include "ayatori/solvers/preconditioner.hpp"

namespace ayatori::session {

namespace {

using Row = Option<EigenRequest>;

// A new option is a line here and a member of EigenRequest.
std::vector<Row> make_table() {
  return {
      {.name = "method",
       .place = [](EigenRequest& r) -> std::string& { return r.method; },
       .help = "auto, dense, or, for a few pairs of a sparse matrix, davidson",
       .words = {"auto", "dense", "davidson"},
       .only_words = true},
      {.name = "precision",
       .place = [](EigenRequest& r) -> std::string& { return r.precision; },
       .help = "double, float (half the memory traffic, 7 digits), or mixed: float, and all pairs refined to "
               "double",
       .words = {"double", "float", "mixed"},
       .only_words = true},
      {.name = "reduction",
       .place = [](EigenRequest& r) -> std::string& { return r.reduction; },
       .help = "To tridiagonal form: auto, one-stage, two-stage (by way of a band of BLOCK diagonals)",
       .words = {"auto", "one-stage", "two-stage"},
       .only_words = true},
      {.name = "block",
       .place = [](EigenRequest& r) -> std::optional<int>& { return r.block; },
       .help = "Columns that are reduced and applied together",
       .initial = "32, or what the profile advises"},
      {.name = "grid",
       .place = [](EigenRequest& r) -> std::string& { return r.grid; },
       .help = "auto, or ROWSxCOLUMNS of ranks"},
      {.name = "preconditioner",
       .place = [](EigenRequest& r) -> std::string& { return r.preconditioner; },
       .help = "Preconditioner of davidson: auto, or one of those of solve",
       .words = names_in(solvers::preconditioners(), {"auto"})},
      {.name = "tolerance",
       .place = [](EigenRequest& r) -> double& { return r.tolerance; },
       .help = "Tolerance of davidson: ||A v - lambda v|| / ||A||; 0: n eps, as of the dense solver"},
      {.name = "profile",
       .place = [](EigenRequest& r) -> std::string& { return r.profile; },
       .help = "Machine profile (see probe): none, auto, a file, or a published one. Forecasts go by it, and "
               "choose grid and block"},
      {.name = "gflops",
       .place = [](EigenRequest& r) -> double& { return r.gflops; },
       .help = "Rate of a thread's matrix products, for forecasts; 0: measured here",
       .range = not_negative},
      memory_bandwidth_option<EigenRequest>(),
      collectives_option<EigenRequest>(),
      threads_option<EigenRequest>(),
  };
}

bool is_end(const eigen::Selection& selection) {
  return selection.kind == eigen::Selection::Kind::smallest ||
         selection.kind == eigen::Selection::Kind::largest;
}

void check_davidson(const EigenRequest& request, eigen::ProblemKind kind) {
  if (kind == eigen::ProblemKind::generalized)
    throw InputError("--method davidson solves A x = lambda x: leave it away, or --generalized");
  if (!is_end(request.selection))
    throw InputError("--method davidson finds pairs at an end of the spectrum: add --smallest or --largest");
  if (request.precision != "double")
    throw InputError(
        fmt::format("--method davidson iterates in double: leave --precision {} away", request.precision));
}

}  // namespace

std::span<const Option<EigenRequest>> eigen_options() {
  static const auto table = make_table();
  return table;
}

void check(const EigenRequest& request, eigen::ProblemKind kind) {
  check_values(eigen_options(), request);
  if (request.method == "davidson") check_davidson(request, kind);
  if (!(request.tolerance >= 0 && request.tolerance < 1))
    throw InputError(fmt::format("--tolerance {}: from 0 to below 1", request.tolerance));
  if (request.preconditioner != "auto") solvers::preconditioner(request.preconditioner);
  eigen::parse_precision(request.precision);
  eigen::parse_grid_shape(request.grid);
}

eigen::EigenOptions dense_options(const EigenRequest& request) {
  eigen::EigenOptions options{.selection = request.selection,
                              .vectors = request.vectors,
                              .precision = eigen::parse_precision(request.precision),
                              .reduction = request.reduction};
  if (request.block) options.block = *request.block;
  return options;
}

}  // namespace ayatori::session
