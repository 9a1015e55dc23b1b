#include "cli/eigen/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/machine_profile.hpp"

namespace ayatori::cli {

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

void print(const session::EigenForecast& forecast) {
  fmt::print(stderr, "{:>6} ranks, grid {}x{}, block {}, {}: {:.4g} s", forecast.shape.ranks(),
             forecast.grid.rows, forecast.grid.columns, forecast.block, forecast.reduction, forecast.total());
  for (const session::PhaseForecast& phase : forecast.phases) {
    fmt::print(stderr, "; {} {:.4g} s", phase.phase, phase.total());
    for (const auto& [operation, seconds] : phase.messages)
      fmt::print(stderr, ", {} {:.3g}", operation, seconds);
  }
  fmt::print(stderr, "\n");
}

ordered_json to_json(const session::EigenForecast& forecast) {
  ordered_json phases = ordered_json::object();
  for (const session::PhaseForecast& phase : forecast.phases) {
    phases[std::string(phase.phase)] = {
        {"seconds", phase.total()}, {"computing", phase.computing}, {"messages", phase.messages}};
  }
  return {{"ranks", forecast.shape.ranks()}, {"grid", {forecast.grid.rows, forecast.grid.columns}},
          {"block", forecast.block},         {"reduction", forecast.reduction},
          {"seconds", forecast.total()},     {"phases", std::move(phases)}};
}

}  // namespace

void check(const EigenPrediction& prediction, const session::EigenRequest& request) {
  if (!prediction.ranks.empty()) {
    rank_counts(prediction.ranks);
    if (request.precision == "mixed")
      throw InputError("--predict: how often mixed precision refines depends on the matrix: float or double");
  } else if (request.profile == "none" && (request.gflops > 0 || request.memory_bandwidth > 0)) {
    throw InputError("--gflops and --memory-bandwidth go with --predict, or --profile");
  }
}

void predict_eigen(const comm::Comm& world, const std::string& matrix, const session::EigenQuestion& question,
                   const session::EigenRequest& request, const EigenPrediction& prediction,
                   const std::string& json) {
  const auto found = session::find_profile(world, request.profile == "none" ? "auto" : request.profile);
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    if (!found.profile)
      throw InputError(
          fmt::format("there is no profile of this machine{}: give --profile (see ayatori probe)",
                      session::reason_of(found)));
    const auto rates = session::thread_rates(request.gflops);
    ordered_json points = ordered_json::array();
    std::vector<std::string> assumptions;
    for (const int ranks : rank_counts(prediction.ranks)) {
      const int per_node = std::min(prediction.ranks_per_node, ranks);
      if (ranks % per_node != 0)
        throw InputError(fmt::format("{} ranks are no nodes of {}", ranks, per_node));
      if (question.grid.rows != 0 && question.grid.rows * question.grid.columns != ranks)
        throw InputError(fmt::format("a grid of {} x {} is not for {} ranks", question.grid.rows,
                                     question.grid.columns, ranks));
      const auto job = job_machine(*found.profile, request, ranks, per_node, question.threads);
      const auto forecast = forecast_for(question, job, rates);
      print(forecast);
      points.push_back(to_json(forecast));
      for (const auto& assumption : job.assumptions()) {
        if (std::ranges::find(assumptions, assumption) == assumptions.end())
          assumptions.push_back(assumption);
      }
    }
    for (const auto& assumption : assumptions) fmt::print(stderr, "assumed: {}\n", assumption);
    if (json.empty()) return;
    const ordered_json whole{{"schema", "ayatori.eigen-forecast/1"},
                             {"matrix", {{"source", matrix}, {"rows", question.n}}},
                             {"gflops", 1e-9 * rates.products(question.options.block)},
                             {"assumptions", assumptions},
                             {"points", std::move(points)}};
    write_file(json, whole.dump(2) + "\n");
  });
}

}  // namespace ayatori::cli
