#include "ayatori/session/solve/solve_request.hpp"

#include "ayatori/base/find_named.hpp"
#include "ayatori/session/session_options.hpp"

// The options of a solve. A new one is a line here and a member of SolveRequest.

namespace ayatori::session {

namespace {

using Row = Option<SolveRequest>;

solvers::Obeys obeys(const SolveRequest& r) {
  return r.preconditioner == "auto" ? solvers::Obeys{} : solvers::preconditioner(r.preconditioner).obeys;
}

std::vector<Row> make_table() {
  return {
      {.name = "rtol",
       .place = [](SolveRequest& r) -> double& { return r.rtol; },
       .help = "Converged means ||b - Ax|| <= rtol ||b||",
       .is_decision = true},
      {.name = "time-limit",
       .place = [](SolveRequest& r) -> double& { return r.time_limit; },
       .help = "Seconds for set-ups and iterations; 0: none",
       .range = not_negative},
      {.name = "max-iterations",
       .place = [](SolveRequest& r) -> std::int64_t& { return r.max_iterations; },
       .help = "Over all trials; 0: no limit",
       .range = not_negative,
       .is_decision = true},
      {.name = "method",
       .place = [](SolveRequest& r) -> std::string& { return r.method; },
       .help = "auto or a method",
       .words = names_in(solvers::methods(), {"auto"}),
       .is_decision = true},
      {.name = "preconditioner",
       .place = [](SolveRequest& r) -> std::string& { return r.preconditioner; },
       .help = "auto or a preconditioner",
       .words = names_in(solvers::preconditioners(), {"auto"}),
       .is_decision = true},
      {.name = "overlap",
       .place = [](SolveRequest& r) -> int& { return r.overlap; },
       .help = "Layers of rows by which the blocks of ic, ilu and ilut overlap",
       .range = std::pair(0.0, 10.0),
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).overlap_and_ordering; }},
      {.name = "fill",
       .place = [](SolveRequest& r) -> int& { return r.fill; },
       .help = "Levels of fill of ic (default 1) and ilu (default 0); entries per row beyond those of the "
               "matrix that ilut keeps (default 10)",
       .range = not_negative,
       .initial = "by the preconditioner",
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).fill; }},
      {.name = "triangular",
       .place = [](SolveRequest& r) -> std::string& { return r.triangular; },
       .help = "Threads of a rank in ic, ilu and ilut: blocks, one for each, or levels of one block; auto: "
               "levels for ilut, blocks for the others",
       .words = {"auto", "blocks", "levels"},
       .only_words = true,
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).overlap_and_ordering; }},
      {.name = "degree",
       .place = [](SolveRequest& r) -> int& { return r.degree; },
       .help = "Products in an application of neumann, chebyshev and gmres-polynomial",
       .range = std::pair(0.0, 100.0),
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).degree; }},
      {.name = "drop",
       .place = [](SolveRequest& r) -> double& { return r.drop; },
       .help = "What ilut drops, relative to the row",
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).drop_tolerance; }},
      {.name = "complement",
       .place = [](SolveRequest& r) -> std::string& { return r.complement; },
       .help = "Schur complement of schur and schur-definite: diagonal, simple, commutator, constraint or "
               "diagonals; "
               "auto: what is measured to take the least time",
       .words = {"auto", "diagonal", "simple", "commutator", "constraint", "diagonals"},
       .only_words = true,
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).complement; }},
      {.name = "ordering",
       .place = [](SolveRequest& r) -> std::string& { return r.ordering; },
       .help = "Order of the rows before ic, ilu and ilut factor them: auto, natural or rcm",
       .words = {"auto", "natural", "rcm"},
       .only_words = true,
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).overlap_and_ordering; }},
      {.name = "factor-precision",
       .place = [](SolveRequest& r) -> std::string& { return r.factor_precision; },
       .help = "Precision of the complete factors of direct: double, or single, in half of the memory; the "
               "iterations around them refine in double",
       .words = {"double", "single"},
       .only_words = true,
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).complete_factors; }},
      {.name = "low-rank",
       .place = [](SolveRequest& r) -> double& { return r.low_rank; },
       .help =
           "Compress blocks of the complete factors of direct to low rank (BLR), to this accuracy relative "
           "to the matrix; 0: none",
       .is_obeyed = [](const SolveRequest& r) { return obeys(r).complete_factors; }},
      {.name = "reproducible",
       .place = [](SolveRequest& r) -> bool& { return r.reproducible; },
       .help =
           "Nothing whose bits differ from run to run, where a replay shall repeat them: complete factors "
           "stay on one rank, however large the matrix"},
      {.name = "deterministic",
       .place = [](SolveRequest& r) -> bool& { return r.deterministic; },
       .help =
           "Choices go by counted work, not by times: the same x to the bit in every solve on as many ranks "
           "and threads. Kernels do not race, and no set-up is given up"},
      {.name = "coordinates",
       .place = [](SolveRequest& r) -> std::string& { return r.coordinates; },
       .help =
           "A matrix file with a row of x, y (and z) for each node of an elastic body: amg then knows its "
           "rotations",
       .is_obeyed =
           [](const SolveRequest& r) { return r.preconditioner == "auto" || r.preconditioner == "amg"; }},
      {.name = "fields",
       .place = [](SolveRequest& r) -> std::string& { return r.fields; },
       .help =
           "A file of a vector with 1 for each row of a saddle point that is a constraint, 0 for the others; "
           "without, schur looks for them",
       .is_obeyed = [](const SolveRequest& r) { return r.preconditioner == "auto" || obeys(r).complement; }},
      {.name = "restart",
       .place = [](SolveRequest& r) -> std::string& { return r.restart; },
       .help = "auto or the basis vectors of GMRES",
       .is_decision = true},
      {.name = "orthogonalization",
       .place = [](SolveRequest& r) -> std::string& { return r.orthogonalization; },
       .help = "auto, cgs, mgs or ircgs",
       .words = names_in(solvers::orthogonalizations(), {"auto"}),
       .is_decision = true},
      {.name = "kernel",
       .place = [](SolveRequest& r) -> std::string& { return r.kernel; },
       .help = "auto or a product kernel",
       .words = names_in(sparse::kernels(), {"auto"}),
       .is_decision = true},
      {.name = "halo",
       .place = [](SolveRequest& r) -> std::string& { return r.halo; },
       .help = "auto or a halo strategy, with or without +overlap",
       .words = names_in(sparse::halo_strategies(), {"auto"}),
       .is_decision = true},
      // The processor stands in for a device, too, for tests: a word that nobody else needs.
      {.name = "device",
       .place = [](SolveRequest& r) -> std::string& { return r.device; },
       .help = "Where iterations run: auto, on a GPU where that is expected to end sooner; none, never "
               "there; cuda, there alone",
       .words = {"auto", "none", "cuda"},
       .is_decision = true},
      {.name = "exclude",
       .place = [](SolveRequest& r) -> std::vector<std::string>& { return r.exclude; },
       .help =
           "Names of methods, preconditioners, orthogonalizations, kernels, halo strategies that must not "
           "be chosen",
       .is_decision = true},
      {.name = "tuning-share",
       .place = [](SolveRequest& r) -> double& { return r.tuning_share; },
       .help = "Share of the time for trials of what is not chosen in the end"},
      {.name = "use-ranks",
       .place = [](SolveRequest& r) -> std::string& { return r.use_ranks; },
       .help = "auto: one rank holds all rows where that is faster; all: every rank holds its share",
       .words = {"auto", "all"},
       .only_words = true},
      {.name = "partition",
       .place = [](SolveRequest& r) -> std::string& { return r.partition; },
       .help = "contiguous or graph (METIS, PT-Scotch)",
       .words = {"contiguous", "graph"},
       .only_words = true},
      {.name = "placement",
       .place = [](SolveRequest& r) -> std::string& { return r.placement; },
       .help =
           "auto: parts of the matrix that talk much come to one node, or to near ones, where that is worth "
           "moving them; always: wherever it helps; none",
       .words = {"auto", "always", "none"},
       .only_words = true},
      {.name = "network",
       .place = [](SolveRequest& r) -> std::string& { return r.network; },
       .help = "Between the nodes, for --placement: auto, or as for `ayatori map`"},
      {.name = "profile",
       .place = [](SolveRequest& r) -> std::string& { return r.profile; },
       .help = "Machine profile (see probe): auto, none, a file, or the name of a published one"},
      collectives_option<SolveRequest>(),
      {.name = "knowledge",
       .place = [](SolveRequest& r) -> std::string& { return r.knowledge; },
       .help = "Folder of what solves have taught; none; auto: AYATORI_KNOWLEDGE, or one in the home"},
      {.name = "replay",
       .place = [](SolveRequest& r) -> std::string& { return r.replay; },
       .help = "Repeat the decisions of this result, to the same bits on as many ranks and threads"},
      {.name = "checkpoint",
       .place = [](SolveRequest& r) -> std::string& { return r.checkpoint; },
       .help = "Keep the best x here while solving"},
      {.name = "every",
       .place = [](SolveRequest& r) -> std::optional<double>& { return r.every; },
       .help = "Seconds between two checkpoints [60]"},
      {.name = "resume",
       .place = [](SolveRequest& r) -> std::string& { return r.resume; },
       .help =
           "Go on from this checkpoint, on any number of ranks; the file of --checkpoint may be missing at "
           "the first time",
       .is_decision = true},
      threads_option<SolveRequest>(),
  };
}

}  // namespace

std::span<const Option<SolveRequest>> solve_options() {
  static const auto table = make_table();
  return table;
}

}  // namespace ayatori::session
