#include "ayatori/session/predict/predict_request.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/forecast/scaling.hpp"
#include "ayatori/session/session_options.hpp"

namespace ayatori::session {

namespace {

constexpr int most_ranks = 1 << 20;
constexpr std::pair<double, double> ranks_range{1, most_ranks};

using Row = Option<PredictRequest>;

// A new option is a line here and a member of PredictRequest.
std::vector<Row> make_table() {
  return {
      {.name = "nodes",
       .place = [](PredictRequest& r) -> std::string& { return r.nodes; },
       .help = "1..1024: powers of two and both ends; or 1,2,8"},
      {.name = "ranks-per-node",
       .place = [](PredictRequest& r) -> int& { return r.ranks_per_node; },
       .help = "Ranks on each node",
       .range = ranks_range},
      {.name = "threads",
       .place = [](PredictRequest& r) -> int& { return r.threads; },
       .help = "Threads of a rank",
       .range = ranks_range},
      {.name = "network",
       .place = [](PredictRequest& r) -> std::string& { return r.network; },
       .help = "Between nodes, as for `ayatori map`; without it messages share ports only"},
      {.name = "profile",
       .place = [](PredictRequest& r) -> std::string& { return r.profile; },
       .help = "Machine profile (see probe): auto, a file, or the name of a published one"},
      memory_bandwidth_option<PredictRequest>(),
      {.name = "partition",
       .place = [](PredictRequest& r) -> std::string& { return r.partition; },
       .help = "Partition of the rows: " + names_of(forecast::partitions()),
       .words = names_in(forecast::partitions())},
      {.name = "method",
       .place = [](PredictRequest& r) -> std::string& { return r.method; },
       .help = names_of(forecast::iteration_works()),
       .words = names_in(forecast::iteration_works())},
      {.name = "preconditioner",
       .place = [](PredictRequest& r) -> std::string& { return r.preconditioner; },
       .help = names_of(forecast::vector_preconditioners()),
       .words = names_in(forecast::vector_preconditioners())},
  };
}

int node_count(std::string_view word, const std::string& whole) {
  const auto value = number_in<int>(word);
  if (!value || *value < 1 || *value > most_ranks)
    throw InputError(
        fmt::format("--nodes {}: give a range 1..64 (powers of two, and both ends), or numbers "
                    "1,2,8, of up to {} nodes",
                    whole, most_ranks));
  return *value;
}

}  // namespace

std::span<const Option<PredictRequest>> predict_options() {
  static const auto table = make_table();
  return table;
}

std::set<int> node_counts(const std::string& text) {
  std::set<int> counts;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const auto word = rest.substr(0, comma);
    const auto dots = word.find("..");
    const int first = node_count(word.substr(0, dots), text);
    const int last = dots == std::string_view::npos ? first : node_count(word.substr(dots + 2), text);
    if (last < first) throw InputError(fmt::format("--nodes {}: {} is less than {}", text, last, first));
    counts.insert({first, last});
    for (int power = 1; power < last; power *= 2) {
      if (power > first) counts.insert(power);
    }
    if (comma == std::string_view::npos) return counts;
    rest.remove_prefix(comma + 1);
  }
}

void check(const PredictRequest& request) {
  check_values(predict_options(), request);
  const int most_nodes = *node_counts(request.nodes).rbegin();
  if (std::int64_t{most_nodes} * request.ranks_per_node > most_ranks)
    throw InputError(
        fmt::format("{} nodes x {} ranks are more than {}", most_nodes, request.ranks_per_node, most_ranks));
  if (!request.network.empty()) network::make_network(request.network, most_nodes);
  find_named(forecast::partitions(), request.partition, "partition");
  find_named(forecast::iteration_works(), request.method, "method");
  find_named(forecast::vector_preconditioners(), request.preconditioner, "preconditioner");
}

}  // namespace ayatori::session
