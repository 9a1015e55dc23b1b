#include "ayatori/session/eigen/eigen_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/machine_profile.hpp"

namespace ayatori::session {

namespace {

using nlohmann::ordered_json;

constexpr int most_ranks = 1 << 16;

std::vector<int> rank_counts(const std::string& text) {
  std::vector<int> counts;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (true) {
    int count = 0;
    const auto [stop, error] = std::from_chars(next, end, count);
    if (error != std::errc() || count < 1 || count > most_ranks || (stop != end && *stop != ','))
      throw InputError(
          fmt::format("--predict {}: give numbers of ranks, up to {}, such as 1,4,32", text, most_ranks));
    counts.push_back(count);
    if (stop == end) return counts;
    next = stop + 1;
  }
}

std::string line_of(const EigenForecast& forecast) {
  std::string text = fmt::format("{:>6} ranks, grid {}x{}, block {}, {}: {:.4g} s", forecast.shape.ranks(),
                                 forecast.grid.rows, forecast.grid.columns, forecast.block,
                                 forecast.reduction, forecast.total());
  for (const PhaseForecast& phase : forecast.phases) {
    text += fmt::format("; {} {:.4g} s", phase.phase, phase.total());
    for (const auto& [operation, seconds] : phase.messages)
      text += fmt::format(", {} {:.3g}", operation, seconds);
  }
  return text + "\n";
}

ordered_json json_of(const EigenForecast& forecast) {
  ordered_json phases = ordered_json::object();
  for (const PhaseForecast& phase : forecast.phases) {
    phases[std::string(phase.phase)] = {
        {"seconds", phase.total()}, {"computing", phase.computing}, {"messages", phase.messages}};
  }
  return {{"ranks", forecast.shape.ranks()}, {"grid", {forecast.grid.rows, forecast.grid.columns}},
          {"block", forecast.block},         {"reduction", forecast.reduction},
          {"seconds", forecast.total()},     {"phases", std::move(phases)}};
}

}  // namespace

void check(const EigenJobs& jobs, const EigenRequest& request) {
  if (!jobs.ranks.empty()) {
    rank_counts(jobs.ranks);
    if (request.precision == "mixed")
      throw InputError("--predict: how often mixed precision refines depends on the matrix: float or double");
  } else if (request.profile == "none" && (request.gflops > 0 || request.memory_bandwidth > 0)) {
    throw InputError("--gflops and --memory-bandwidth go with --predict, or --profile");
  }
}

std::optional<EigenScaling> predict_eigen(const comm::Comm& world, const std::string& matrix,
                                          const EigenQuestion& question, const EigenRequest& request,
                                          const EigenJobs& jobs) {
  const auto found = find_profile(world, request.profile == "none" ? "auto" : request.profile);
  return comm::agree(world, [&]() -> std::optional<EigenScaling> {
    if (world.rank() != 0) return std::nullopt;
    const machine::Profile& profile = required(found);
    const auto rates = thread_rates(request.gflops);
    EigenScaling scaling{matrix, question.n, 0, {}, {}};
    for (const int ranks : rank_counts(jobs.ranks)) {
      const int per_node = std::min(jobs.ranks_per_node, ranks);
      if (ranks % per_node != 0)
        throw InputError(fmt::format("{} ranks are no nodes of {}", ranks, per_node));
      if (question.grid.rows != 0 && question.grid.rows * question.grid.columns != ranks)
        throw InputError(fmt::format("a grid of {} x {} is not for {} ranks", question.grid.rows,
                                     question.grid.columns, ranks));
      const auto job = job_machine(profile, request, ranks, per_node, question.threads);
      scaling.forecasts.push_back(forecast_for(question, job, rates));
      for (const auto& assumption : job.assumptions()) {
        if (std::ranges::find(scaling.assumptions, assumption) == scaling.assumptions.end())
          scaling.assumptions.push_back(assumption);
      }
    }
    scaling.gflops = 1e-9 * rates.products(question.options.block);
    return scaling;
  });
}

std::string summary(const EigenScaling& scaling) {
  std::string text;
  for (const auto& forecast : scaling.forecasts) text += line_of(forecast);
  for (const auto& assumption : scaling.assumptions) text += fmt::format("assumed: {}\n", assumption);
  return text;
}

ordered_json to_json(const EigenScaling& scaling) {
  ordered_json points = ordered_json::array();
  for (const auto& forecast : scaling.forecasts) points.push_back(json_of(forecast));
  return {{"schema", "ayatori.eigen-forecast/1"},
          {"matrix", {{"source", scaling.matrix}, {"rows", scaling.rows}}},
          {"gflops", scaling.gflops},
          {"assumptions", scaling.assumptions},
          {"points", std::move(points)}};
}

}  // namespace ayatori::session
