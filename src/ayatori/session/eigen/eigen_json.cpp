#include <nlohmann/json.hpp>

#include "ayatori/session/eigen.hpp"

namespace ayatori::session {

namespace {

using nlohmann::ordered_json;

ordered_json dense_json(const EigenRun& run) {
  const eigen::EigenResult& result = *run.dense;
  const auto& times = result.times;
  const auto& check = result.check;
  ordered_json json{
      {"schema", "ayatori.eigen/1"},
      {"matrix", {{"source", run.matrix}, {"rows", run.rows}}},
      {"ranks", run.ranks},
      {"threads", run.threads},
      {"grid", {run.grid.rows, run.grid.columns}},
      {"block", run.block},
      {"method", "dense"},
      {"reduction", result.reduction},
      {"precision", run.request.precision},
      {"collectives", run.tables},
      {"scheduled_calls", run.scheduled_calls},
      {"vectors", run.request.vectors},
      {"pairs", result.values.size()},
      {"verified", check.passed()},
      {"largest_good_ratio", eigen::largest_good_ratio},
      {"ratios", {{"moments", check.moments}}},
      {"seconds",
       {{"all", run.total_seconds},
        {"reading", run.read_seconds},
        {"total", times.total},
        {"tridiagonalization", times.tridiagonalization},
        {"tridiagonal_solve", times.tridiagonal_solve},
        {"redistribution", times.redistribution},
        {"back_transformation", times.back_transformation},
        {"verification", times.verification}}},
      {"collective_operations", ordered_json::object()},
      {"values", result.values},
  };
  if (!run.generalized.empty()) {
    json["generalized"] = run.generalized;
    json["ratios"]["reduction"] = check.reduction;
    json["seconds"]["reduction"] = times.reduction;
    json["seconds"]["back_substitution"] = times.back_substitution;
  }
  if (run.request.precision == "mixed") {
    json["refinement"] = {{"steps", result.refinement_steps},
                          {"converged", result.precision == eigen::Precision::mixed}};
    json["seconds"]["refinement"] = times.refinement;
  }
  if (run.request.vectors) {
    json["ratios"]["residual"] = check.residual;
    json["ratios"]["orthogonality"] = check.orthogonality;
  }
  for (const auto& [operation, cost] : times.collectives) {
    json["collective_operations"][operation] = {
        {"calls", cost.calls}, {"bytes", cost.bytes}, {"seconds", cost.seconds}};
  }
  return json;
}

ordered_json sparse_json(const EigenRun& run) {
  const SparseEigenResult& result = *run.sparse;
  const auto& pairs = result.pairs;
  return {
      {"schema", "ayatori.eigen/1"},
      {"matrix", {{"source", run.matrix}, {"rows", result.n}}},
      {"ranks", run.ranks},
      {"threads", run.threads},
      {"method", "davidson"},
      {"because", result.why},
      {"preconditioner", result.preconditioner},
      {"vectors", run.request.vectors},
      {"pairs", pairs.values.size()},
      {"products", pairs.products},
      {"restarts", pairs.restarts},
      {"tolerance", result.tolerance},
      {"verified", result.passed()},
      {"residual", result.check.residual},
      {"ratios", {{"orthogonality", result.check.orthogonality}}},
      {"seconds",
       {{"all", run.total_seconds},
        {"reading", run.read_seconds},
        {"setup", result.setup_seconds},
        {"total", result.setup_seconds + result.seconds},
        {"verification", result.verification_seconds}}},
      {"values", pairs.values},
      {"residuals", pairs.residuals},
  };
}

}  // namespace

ordered_json to_json(const EigenRun& run) {
  return run.sparse ? sparse_json(run) : dense_json(run);
}

}  // namespace ayatori::session
