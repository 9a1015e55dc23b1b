#include "ayatori/session/solve/solve_run.hpp"

#include <fmt/core.h>
#include <algorithm>

#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "ayatori/base/version.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/forecast/bound.hpp"
#include "ayatori/session/schedule_tables.hpp"
#include "ayatori/session/solve/bound_words.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/tuning/report_json.hpp"

namespace ayatori::session {

namespace {

/// `is_complex`: as it was given, not only in its form.
std::string symmetry_words(const tuning::MatrixFacts& facts, bool is_complex) {
  if (is_complex && facts.complex_symmetric) return "complex symmetric";
  if (is_complex && !facts.symmetric) return "unsymmetric";
  const std::string kind = is_complex ? "Hermitian" : "symmetric";
  if (facts.looks_positive_definite()) return kind + ", positive diagonal";
  if (facts.looks_negative_definite()) return kind + ", negative diagonal";
  if (facts.symmetric) return kind + ", indefinite-looking";
  return facts.pattern_symmetric ? "unsymmetric values on a symmetric pattern" : "unsymmetric";
}

std::string implementation_words(const tuning::Choice& choice, int ranks) {
  return ranks > 1 ? fmt::format("kernel {}, halo {}", choice.kernel, choice.halo)
                   : "kernel " + choice.kernel;
}

/// What double precision has to do with it.
std::string rounding_words(const tuning::SolveReport& report) {
  std::string text;
  if (report.status == tuning::Status::limited_by_rounding)
    text += fmt::format("; rounding the exact solution to double leaves {:.1e} or so, backward error {:.1e}",
                        report.rounding_residual, report.backward_error);
  if (report.condition_estimate > 0)
    text += fmt::format(", condition number {:.1e} or more", report.condition_estimate);
  return text;
}

std::string boundary_words(const tuning::SolveReport& report) {
  if (report.boundary_rows == 0) return "";
  return fmt::format("; {:.2e} of the rows beside {} boundary row{}", report.relative_residual_of_others,
                     report.boundary_rows, report.boundary_rows == 1 ? "" : "s");
}

std::string result_words(const SolveRun& run) {
  const auto& report = run.report;
  const std::string residual = fmt::format("true relative residual {:.2e} +- {:.0e}",
                                           report.relative_residual, report.residual_error_bound);
  if (report.converged())
    return fmt::format("converged: {} <= {:.0e}{}", residual, run.rtol, boundary_words(report));
  return fmt::format("{}: {}, wanted {:.0e}{}{}", name_of(report.status), residual, run.rtol,
                     boundary_words(report), rounding_words(report));
}

std::string time_words(const tuning::PhaseSeconds& s) {
  return fmt::format(
      "choosing {:.3f}, set-up {:.3f}, verifying {:.3f}, iterating {:.3f} s (products {:.3f}, halo {:.3f}, "
      "preconditioner "
      "{:.3f}, "
      "orthogonalization {:.3f}, reductions {:.3f})",
      s.tuning, s.setup, s.verification, s.solve, s.spmv, s.halo, s.preconditioner, s.orthogonalization,
      s.reduction);
}

std::string count_words(const CollectiveCalls& collectives) {
  std::int64_t all = 0;
  for (const auto& [operation, calls] : collectives.calls) all += calls;
  return fmt::format("{} of {} collective calls", scheduled_calls(collectives.schedules), all);
}

std::string schedule_words(const CollectiveCalls& done) {
  std::string text;
  for (const auto& [operation, entry, calls] : done.schedules)
    text += fmt::format("{} call{} of {} on {} ranks with about {} bytes went by the schedule {}.\n", calls,
                        calls == 1 ? "" : "s", type_of(operation).name, entry->plan->ranks, entry->bytes,
                        describe(*entry->plan));
  const bool has_single_copies = std::ranges::any_of(done.schedules, [](const collectives::ScheduleUse& use) {
    return use.entry->plan->single_copy != collectives::SingleCopy::none;
  });
  if (has_single_copies && !done.can_copy_once)
    text += "Inside the node messages were copied twice: the kernel lets no rank read another's memory.\n";
  return text;
}

/// On what device iterations ran, and how many of them.
std::string device_words(const SolveRun& run) {
  std::string device;
  std::int64_t there = 0;
  for (const auto& trial : run.report.trials) {
    if (trial.choice.device.empty()) continue;
    device = trial.choice.device;
    there += trial.iterations;
  }
  if (device.empty()) return "";
  const bool is_known = run.machine && run.machine->device && device == "cuda";
  return fmt::format("device     {}{}: {} of {} iterations ran there\n", device,
                     is_known ? fmt::format(" ({})", run.machine->device->name) : "", there,
                     run.report.iterations);
}

/// What the iterations of all trials took, phase by phase.
forecast::MeasuredRun measured_run(const SolveRun& run) {
  const auto& report = run.report;
  const auto& s = report.seconds;
  const double vectors = s.solve - s.spmv - s.halo - s.preconditioner - s.reduction;
  const double traffic = report.choice.method == solvers::least_squares_name
                             ? solvers::least_squares_traffic
                             : solvers::method(report.choice.method).traffic;
  const auto doubles = traffic * static_cast<double>(report.facts.rows);
  return {.ranks = run.ranks,
          .iterations = report.iterations,
          .products = s.spmv,
          .halo = s.halo,
          .reductions = s.reduction,
          .vectors = vectors > 0 ? vectors : 0,
          .preconditioner = s.preconditioner,
          .product_limit = report.product.memory_seconds,
          .product_bytes = report.product.bytes,
          .vector_bytes = 8 * doubles,
          .sums = report.reductions,
          .halo_bytes = report.halo_bytes};
}

/// How far every phase is from its limit, and what bounds the iterations.
std::string bound_words(const SolveRun& run) {
  if (run.report.iterations == 0) return "";
  return limit_words(forecast::find_limits(measured_run(run), run.machine.get()));
}

/// What the solve began with because of earlier ones, and what it left for last.
std::string knowledge_words(const SolveRun& run) {
  if (run.knowledge.is_null() || run.knowledge["found"].is_null()) return "";
  const auto& experience = run.knowledge["experience"];
  const auto likeness = run.knowledge["found"].get<std::string>();
  std::string text =
      fmt::format("The knowledge base knew {} {}", likeness.starts_with("same") ? "the" : "a", likeness);
  if (!experience["best"].is_null()) text += ": " + experience["why"].get<std::string>();
  text += ".\n";
  for (const auto& failure : experience["failed"])
    text += fmt::format(
        "Left for last: {} + {}, which {} before.\n", failure["choice"]["method"].get<std::string>(),
        failure["choice"]["preconditioner"].get<std::string>(), failure["why"].get<std::string>());
  return text;
}

/// Whether the caches of a node hold what a product moves. Several nodes have more of them.
bool fits_caches(double bytes, const machine::Node& node) {
  double all = 0;
  for (const auto& cache : node.caches) {
    const int copies = std::max(1, node.processing_units / std::max(1, cache.sharers));
    all = std::max(all, static_cast<double>(cache.bytes) * copies);
  }
  return bytes < all;
}

/// How near a product is to what the memory allows, where it is the memory that it waits for.
std::string product_words(const SolveRun& run) {
  const auto& product = run.report.product;
  if (!(product.seconds > 0)) return "";
  const std::string text = fmt::format("A product moves {:.3g} MB and takes {:.3g} us", 1e-6 * product.bytes,
                                       1e6 * product.seconds);
  if (!(product.memory_seconds > 0)) return text + ".\n";
  const double share = 100 * product.memory_seconds / product.seconds;
  if (share > 100) return text + ": faster than the memory allows, so its data comes from caches.\n";
  if (run.machine && fits_caches(product.bytes, run.machine->node))
    return text + ": its data fits into the caches.\n";
  return text + fmt::format(
                    ": {:.0f} % of what the memory allows at the rate of the triad, by the machine's "
                    "profile.\n",
                    share);
}

/// What the choosing took.
std::string effort_words(const tuning::SolveReport& report) {
  constexpr double shown = 0.5e-3;  // as 0.001 s
  if (report.tuning_seconds < shown) return "Finding all this out took less than a millisecond.\n";
  return fmt::format("Finding all this out took {:.3f} s, {:.1f} % of the solve.\n", report.tuning_seconds,
                     std::min(100.0, 100 * report.tuning_seconds / report.seconds.total));
}

/// Why fewer threads than there are; empty if all are used.
std::string race_words(const tuning::ThreadRace& race) {
  if (race.threads == race.offered) return "";
  std::string text = fmt::format(" of {}: an iteration takes", race.offered);
  for (const auto& entry : race.entries)
    text += fmt::format("{} {:.3g} us on {}", &entry == race.entries.data() ? "" : ",", 1e6 * entry.seconds,
                        entry.threads);
  return text;
}

/// A line for all that follow each other with one verdict and reason.
std::string considered_words(const std::vector<tuning::CandidateVerdict>& considered) {
  std::string text;
  for (auto first = considered.begin(); first != considered.end();) {
    const auto end = std::find_if(first, considered.end(), [&](const tuning::CandidateVerdict& c) {
      return std::tie(c.item, c.verdict, c.reason) != std::tie(first->item, first->verdict, first->reason);
    });
    const bool many = end - first > 1;
    const std::string item = first->item == "halo" ? (many ? "halo strategies" : "halo strategy")
                                                   : first->item + (many ? "s" : "");
    text += fmt::format("The {} {}", item, first->name);
    for (auto c = first + 1; c != end; ++c) text += ", " + c->name;
    const char* be = first->verdict == "failed" ? "" : many ? " were" : " was";
    text += fmt::format("{} {}: {}.\n", be, first->verdict, first->reason);
    first = end;
  }
  return text;
}

}  // namespace

tuning::MatrixFacts shown_facts(const SolveRun& run) {
  return run.source.is_complex ? tuning::in_complex_numbers(run.report.facts) : run.report.facts;
}

EarlierSolve earlier_solve(std::string rhs, const tuning::SolveReport& report, std::string output) {
  return {std::move(rhs),       report.together,          std::string(name_of(report.status)),
          report.converged(),   report.relative_residual, report.iterations,
          report.seconds.total, report.seconds.setup,     std::move(output)};
}

std::string summary(const SolveRun& run) {
  const auto& report = run.report;
  const auto facts = shown_facts(run);
  const double per_row =
      facts.rows > 0 ? static_cast<double>(facts.nonzeros) / static_cast<double>(facts.rows) : 0;
  std::string text;
  text += fmt::format("matrix     {}: {}{} rows, {} nonzeros ({:.1f} a row), {}\n", run.source.name,
                      facts.rows, run.source.is_complex ? " complex" : "", facts.nonzeros, per_row,
                      symmetry_words(facts, run.source.is_complex));
  text += fmt::format("machine    {} rank{} x {} thread{}{}\n", run.ranks, run.ranks == 1 ? "" : "s",
                      run.threads, run.threads == 1 ? "" : "s", race_words(run.thread_race));
  if (run.load.is_oversubscribed())
    text += fmt::format("oversubscribed: {} take turns: use fewer\n", run.load.words());
  if (report.ranks.ranks < report.ranks.offered) text += "rows       all on one rank\n";
  if (!run.profile.empty()) text += fmt::format("profile    {}\n", run.profile);
  if (run.collectives)
    text += fmt::format("schedules  {}: {}\n", run.collectives->tables, count_words(*run.collectives));
  if (run.placement) text += fmt::format("placement  {}\n", summary(*run.placement));
  if (!run.replayed.empty()) text += fmt::format("replayed   the decisions of {}\n", run.replayed);
  if (!run.experience.empty()) text += fmt::format("knowledge  {}\n", run.experience);
  if (!run.resumed.is_null())
    text += fmt::format("resumed    {}: {} iterations and {:.3f} s before, {:.2e} reached\n",
                        run.resumed["file"].get<std::string>(), run.resumed["iterations"].get<std::int64_t>(),
                        run.resumed["seconds"].get<double>(), run.resumed["relative_residual"].get<double>());
  for (const auto& solve : run.earlier)
    text += fmt::format("also       {}: {} at {:.2e}, {} iterations{}, {:.3f} s (set-up {:.3f})\n", solve.rhs,
                        solve.status, solve.relative_residual, solve.iterations,
                        solve.together > 1 ? fmt::format(" of {} at once", solve.together) : "",
                        solve.seconds, solve.setup_seconds);
  if (!run.earlier.empty()) text += fmt::format("sequence   {}\n", describe(run.reuse));
  text += fmt::format("choice     {}; {}\n", describe(report.choice),
                      implementation_words(report.choice, run.ranks));
  text += fmt::format("because    {}\n", report.why);
  text += fmt::format("result     {}\n", result_words(run));
  if (!report.obstacle.property.empty())
    text += fmt::format("obstacle   {}\ntry        {}\n", report.obstacle.property, report.obstacle.advice);
  if (run.true_error) text += fmt::format("error      {:.2e} from the known solution\n", *run.true_error);
  text += fmt::format("work       {} iterations in {} trial{}\n", report.iterations, report.trials.size(),
                      report.trials.size() == 1 ? "" : "s");
  text += device_words(run);
  const std::string measuring =
      run.machine_seconds > 0 ? fmt::format("measuring the machine {:.3f}, ", run.machine_seconds) : "";
  text += fmt::format("time       {:.3f} s: {}reading {:.3f}, {}\n", run.total_seconds, measuring,
                      run.read_seconds, time_words(report.seconds));
  if (!run.checkpoint.is_null())
    text += fmt::format("checkpoint {} ({} written)\n", run.checkpoint["file"].get<std::string>(),
                        run.checkpoint["written"].get<int>());
  return text;
}

std::string written_line(const SolveRun& run) {
  if (run.output.empty()) return "";
  return fmt::format("written    {} ({})\n", run.output == "-" ? "standard output" : run.output,
                     run.report.converged() ? "the solution" : "the best x found");
}

std::string explanation(const SolveRun& run) {
  const auto facts = shown_facts(run);
  std::string text = fmt::format(
      "\nThe matrix has {} positive, {} negative and {} zero diagonal entries; rows hold {} to {} nonzeros; "
      "{:.0f} % of the rows are diagonally dominant; |a_ij - a_ji| reaches {:.1e} of the largest entry.\n",
      facts.positive_diagonals, facts.negative_diagonals, facts.zero_diagonals, facts.min_row_nonzeros,
      facts.max_row_nonzeros, 100 * facts.dominant_rows, facts.asymmetry);
  int number = 0;
  for (const auto& trial : run.report.trials) {
    text += fmt::format(
        "Trial {}: {}, because {}. Outcome: {} after {} iterations and {:.3f} s (set-up {:.3f} s) with a "
        "true relative residual of {:.2e}{}.\n",
        ++number, describe(trial.choice), trial.why, trial.outcome, trial.iterations, trial.solve_seconds,
        trial.setup_seconds, trial.relative_residual, trial.reason.empty() ? "" : ": " + trial.reason);
  }
  text += knowledge_words(run);
  for (const auto& event : run.report.events)
    text += fmt::format("At {:.3f} s: {}.\n", event.seconds, event.text);
  text += considered_words(run.report.considered);
  text += product_words(run);
  text += effort_words(run.report);
  if (run.ranks > 1) {
    text += fmt::format("A product moves {} bytes between ranks in {} messages.\n", run.report.halo_bytes,
                        run.report.halo_messages);
  }
  text += bound_words(run);
  constexpr std::int64_t mega = std::int64_t{1} << 20;
  text += fmt::format("{} held {} MB of memory at most.\n",
                      run.ranks > 1 ? fmt::format("{} ranks together", run.ranks) : "The process",
                      run.memory.of_ranks / mega);
  if (run.placement) text += explanation(*run.placement);
  if (run.collectives) text += schedule_words(*run.collectives);
  return text;
}

}  // namespace ayatori::session
