#include "ayatori/tuning/report_json.hpp"

#include <nlohmann/json.hpp>

#include "ayatori/tuning/policy/choice_json.hpp"

namespace ayatori::tuning {

namespace {

using Json = nlohmann::ordered_json;

Json trial_json(const Trial& trial) {
  return {{"choice", to_json(trial.choice)},
          {"why", trial.why},
          {"outcome", trial.outcome},
          {"reason", trial.reason},
          {"iterations", trial.iterations},
          {"relative_residual", trial.relative_residual},
          {"kept_set_up", trial.kept_set_up},
          {"seconds", {{"setup", trial.setup_seconds}, {"solve", trial.solve_seconds}}}};
}

Json seconds_json(const PhaseSeconds& s) {
  return {{"total", s.total},
          {"setup", s.setup},
          {"tuning", s.tuning},
          {"verification", s.verification},
          {"snapshots", s.snapshots},
          {"solve", s.solve},
          {"spmv", s.spmv},
          {"halo", s.halo},
          {"preconditioner", s.preconditioner},
          {"orthogonalization", s.orthogonalization},
          {"reduction", s.reduction}};
}

Json or_null(double value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json boundary_json(const SolveReport& report) {
  if (report.boundary_rows == 0) return nullptr;
  return {{"count", report.boundary_rows},
          {"relative_residual_of_others", report.relative_residual_of_others}};
}

Json obstacle_json(const Obstacle& obstacle) {
  if (obstacle.property.empty()) return nullptr;
  return {{"property", obstacle.property}, {"advice", obstacle.advice}};
}

Json verdict_json(const CandidateVerdict& c) {
  return {{"item", c.item},
          {"name", c.name},
          {"verdict", c.verdict},
          {"reason", c.reason},
          {"predicted_seconds", or_null(c.predicted)},
          {"measured_seconds", or_null(c.measured)}};
}

Json structure_json(const Structure& structure) {
  const auto lines = [](const FoundLines& found) {
    return Json{{"count", found.count}, {"first", found.count > 0 ? Json(found.first + 1) : Json(nullptr)}};
  };
  const auto& duplicates = structure.duplicates;
  return {
      {"singular", structure.is_singular()},
      {"zero_rows", lines(structure.zero_rows)},
      {"zero_columns", lines(structure.zero_columns)},
      {"duplicate_rows", lines({duplicates.count, duplicates.first})},
      {"structural_rank", structure.structural.is_known ? Json(structure.structural.rank) : Json(nullptr)},
      {"blocks", structure.components ? Json(structure.components->all) : Json(nullptr)},
      {"findings", describe(structure)}};
}

}  // namespace

Json to_json(const MatrixFacts& facts) {
  return {{"rows", facts.rows},
          {"nonzeros", facts.nonzeros},
          {"symmetric", facts.symmetric},
          {"pattern_symmetric", facts.pattern_symmetric},
          {"symmetric_inside", facts.symmetric_inside},
          {"complex", facts.complex_form},
          {"complex_symmetric", facts.complex_symmetric},
          {"asymmetry", facts.asymmetry},
          {"min_row_nonzeros", facts.min_row_nonzeros},
          {"max_row_nonzeros", facts.max_row_nonzeros},
          {"positive_diagonals", facts.positive_diagonals},
          {"negative_diagonals", facts.negative_diagonals},
          {"zero_diagonals", facts.zero_diagonals},
          {"boundary_rows", facts.boundary_rows},
          {"dominant_rows", facts.dominant_rows},
          {"diffusive_rows", facts.diffusive_rows},
          {"mean_row_of_entries", facts.mean_row_of_entries},
          {"strongly_dominant_rows", facts.strongly_dominant_rows},
          {"least_dominance", facts.least_dominance},
          {"constant_quotient", facts.constant_quotient},
          {"min_abs_diagonal", facts.min_abs_diagonal},
          {"max_abs_diagonal", facts.max_abs_diagonal},
          {"dropped_fill", facts.dropped_fill},
          {"block_size", facts.block_size},
          {"blocks", facts.blocks},
          {"layers", facts.least_diameter},
          {"bandwidth", facts.bandwidth},
          {"max_abs", facts.max_abs},
          {"norm_infinity", facts.norm_infinity}};
}

Json to_json(const SolveReport& report) {
  Json json{{"schema", "ayatori.solve/1"},
            {"matrix", to_json(report.facts)},
            {"structure", structure_json(report.structure)},
            {"converged", report.converged()},
            {"status", name_of(report.status)},
            {"relative_residual", report.relative_residual},
            {"residual_error_bound", report.residual_error_bound},
            {"backward_error", report.backward_error},
            {"rounding_residual", or_null(report.rounding_residual)},
            {"condition_estimate", or_null(report.condition_estimate)},
            {"boundary_rows", boundary_json(report)},
            {"iterations", report.iterations},
            {"choice", to_json(report.choice)},
            {"why", report.why},
            {"obstacle", obstacle_json(report.obstacle)},
            {"seconds", seconds_json(report.seconds)},
            {"product",
             {{"bytes", report.product.bytes},
              {"seconds", or_null(report.product.seconds)},
              {"memory_seconds", or_null(report.product.memory_seconds)}}},
            {"communication",
             {{"reductions", report.reductions},
              {"halo_messages_per_product", report.halo_messages},
              {"halo_bytes_per_product", report.halo_bytes}}},
            {"tuning", {{"seconds", report.tuning_seconds}, {"considered", Json::array()}}},
            {"trials", Json::array()},
            {"events", Json::array()}};
  if (report.ranks.offered > 1)
    json["rank_race"] = {{"offered", report.ranks.offered},
                         {"ranks", report.ranks.ranks},
                         {"seconds_of_all", or_null(report.ranks.seconds_of_all)},
                         {"seconds_of_one", or_null(report.ranks.seconds_of_one)},
                         {"seconds", report.ranks.seconds}};
  for (const CandidateVerdict& c : report.considered) json["tuning"]["considered"].push_back(verdict_json(c));
  for (const Trial& trial : report.trials) json["trials"].push_back(trial_json(trial));
  for (const Event& event : report.events) {
    json["events"].push_back({{"seconds", event.seconds}, {"kind", event.kind}, {"text", event.text}});
  }
  return json;
}

}  // namespace ayatori::tuning
