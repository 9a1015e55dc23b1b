#include "ayatori/session/map/map_request.hpp"

#include <fmt/format.h>

#include "ayatori/base/byte_size.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/mapping/launchers/launcher.hpp"
#include "ayatori/mapping/objectives/objective.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::session {

namespace {

using Row = Option<MapRequest>;

constexpr std::pair<double, double> ranks_range{1, 1 << 24};

std::string syntaxes() {
  std::string text;
  for (const auto& type : network::network_types())
    text += fmt::format("\n{} ({})", type.syntax, type.description);
  return text;
}

// A new option is a line here and a member of MapRequest.
std::vector<Row> make_table() {
  return {
      {.name = "trace",
       .place = [](MapRequest& r) -> std::string& { return r.trace; },
       .help = "What libayatori_pmpi.so has recorded of any program"},
      {.name = "graph",
       .place = [](MapRequest& r) -> std::string& { return r.graph; },
       .help = "Bytes from rank to rank: METIS's format (.graph, .metis), or a square matrix file"},
      {.name = "ranks",
       .place = [](MapRequest& r) -> std::optional<int>& { return r.ranks; },
       .help = "Ranks that the matrix is spread over",
       .range = ranks_range},
      {.name = "ranks-per-node",
       .place = [](MapRequest& r) -> std::optional<int>& { return r.ranks_per_node; },
       .help = "On every node but perhaps the last; without it, the nodes of a trace are as they were",
       .range = ranks_range},
      {.name = "partition",
       .place = [](MapRequest& r) -> std::string& { return r.partition; },
       .help = "Partition of the matrix: 'rows', blocks of as many rows each, or 'graph', by METIS",
       .words = {"rows", "graph"},
       .only_words = true},
      {.name = "network",
       .place = [](MapRequest& r) -> std::string& { return r.network; },
       .help = "One of:" + syntaxes()},
      {.name = "profile",
       .place = [](MapRequest& r) -> std::string& { return r.profile; },
       .help = "What messages cost: a file of `ayatori probe`, or a published machine"},
      {.name = "objective",
       .place = [](MapRequest& r) -> std::string& { return r.objective; },
       .help = "To make small: " + names_of(mapping::objectives()),
       .words = names_in(mapping::objectives())},
      {.name = "collective",
       .place = [](MapRequest& r) -> std::vector<std::string>& { return r.collectives; },
       .help = "The program calls this, too: OPERATION:BYTES[:CALLS for each exchange]. Exchange and "
               "collectives together decide",
       .one_each = true},
      {.name = "finalists",
       .place = [](MapRequest& r) -> int& { return r.finalists; },
       .help = "Schedules that are replayed for each collective; 0: the model decides",
       .range = std::pair(0.0, 1000.0)},
      {.name = "launcher",
       .place = [](MapRequest& r) -> std::string& { return r.launcher; },
       .help = "Whose file to write: " + names_of(mapping::launchers()),
       .words = names_in(mapping::launchers())},
      {.name = "hosts",
       .place = [](MapRequest& r) -> std::string& { return r.hosts; },
       .help = "Names of the nodes in their order, one on every line"},
      {.name = "compare",
       .place = [](MapRequest& r) -> std::vector<std::string>& { return r.compare; },
       .help = "Report the costs of this placement, too: a file with the node of every rank, in order",
       .one_each = true},
  };
}

double parse_count(const std::string& text, const std::string& spec) {
  const auto count = number_in<double>(text);
  if (!count || !(*count > 0) || *count > 1e9)
    throw InputError(fmt::format("--collective {}: '{}' is no number of calls, above 0", spec, text));
  return *count;
}

}  // namespace

std::span<const Option<MapRequest>> map_options() {
  static const auto table = make_table();
  return table;
}

void check(const MapRequest& request) {
  check_values(map_options(), request);
  find_named(mapping::objectives(), request.objective, "objective");
  if (!request.launcher.empty()) find_named(mapping::launchers(), request.launcher, "launcher");
}

std::vector<forecast::CollectiveCalls> parse_collective_calls(std::span<const std::string> specs) {
  std::vector<forecast::CollectiveCalls> calls;
  for (const std::string& spec : specs) {
    const auto colon = spec.find(':');
    if (colon == std::string::npos)
      throw InputError(fmt::format("--collective {}: OPERATION:BYTES or OPERATION:BYTES:CALLS", spec));
    const auto second = spec.find(':', colon + 1);
    calls.push_back(
        {collectives::operation(spec.substr(0, colon)),
         parse_bytes(spec.substr(colon + 1, second == std::string::npos ? second : second - colon - 1)),
         second == std::string::npos ? 1 : parse_count(spec.substr(second + 1), spec)});
  }
  return calls;
}

}  // namespace ayatori::session
