#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/regular_file.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/mapping/draw.hpp"
#include "ayatori/mapping/heat_map.hpp"
#include "ayatori/mapping/launchers/hosts_file.hpp"
#include "ayatori/mapping/launchers/launcher.hpp"
#include "ayatori/mapping/placement.hpp"
#include "ayatori/network/simgrid_platform.hpp"
#include "cli/command.hpp"
#include "cli/map/collectives.hpp"
#include "cli/map/traffic.hpp"

namespace ayatori::cli {

namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string matrix;
  std::string trace;
  std::string graph;
  std::string partition = "rows";
  std::string network = "flat";
  std::string profile;
  std::string objective = "time";
  std::string launcher;
  std::string hosts;
  std::string output;
  std::string json;
  std::string svg;
  std::string graph_output;
  std::string platform;
  std::vector<std::string> compare;
  std::vector<std::string> collectives;
  std::string schedules;
  std::string messages;
  int finalists = 4;
  int ranks = 0;
  int ranks_per_node = 0;
};

/// What is to be placed, and where.
struct Task {
  mapping::CommGraph graph;
  std::unique_ptr<network::Network> network;
  network::CostModel model;
  std::vector<std::string> hosts;  ///< by node; empty where they are not known
  std::int64_t collective_bytes;
  std::vector<int> order;                  ///< node of every rank without a placement
  int ranks_per_node;                      ///< at most
  int nodes;                               ///< that are used
  std::vector<std::vector<int>> compared;  ///< node of every rank by placements from elsewhere
  std::vector<forecast::CollectiveCalls> collectives;
};

/// Different hosts, in the order in which they appear.
std::vector<std::string> distinct(const std::vector<std::string>& hosts) {
  std::unordered_set<std::string_view> known;
  std::vector<std::string> names;
  for (const auto& host : hosts) {
    if (known.insert(host).second) names.push_back(host);
  }
  return names;
}

/// The node of every rank, a number on every line.
std::vector<int> read_placement(const std::string& path, int ranks, int nodes) {
  check_regular_file(path);
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  std::vector<int> node_of;
  for (int node = 0; file >> node;) {
    if (node < 0 || node >= nodes)
      throw InputError(fmt::format("{}: node {} is not one of 0 to {}", path, node, nodes - 1));
    node_of.push_back(node);
  }
  if (!file.eof() || static_cast<int>(node_of.size()) != ranks)
    throw InputError(
        fmt::format("{}: {} nodes; a number for each of {} ranks is wanted", path, node_of.size(), ranks));
  return node_of;
}

/// Names of the nodes, each with room for as many ranks as any of them takes but the last.
std::vector<std::string> read_hosts(const std::string& path, int nodes, const std::vector<int>& order) {
  const auto hosts = mapping::read_hosts(path);
  std::vector<std::string> names;
  for (int node = 0; node < std::ssize(hosts); ++node) {
    const auto& host = hosts[node];
    names.push_back(host.name);
    const auto ranks = std::ranges::count(order, node);
    if (host.slots && node < nodes && *host.slots < ranks)
      throw InputError(fmt::format("{}, line {}: {} slots of {}, but {} ranks are to go there", path,
                                   host.line, *host.slots, host.name, ranks));
  }
  return names;
}

mapping::Traffic read_traffic(const Arguments& arguments) {
  const int sources = (arguments.matrix.empty() ? 0 : 1) + (arguments.trace.empty() ? 0 : 1) +
                      (arguments.graph.empty() ? 0 : 1);
  if (sources != 1) throw InputError("map: give one of MATRIX, --trace FILE and --graph FILE");
  if (!arguments.matrix.empty()) {
    if (arguments.ranks == 0) throw InputError("map: a matrix wants --ranks");
    return matrix_traffic(arguments.matrix, arguments.partition, arguments.ranks);
  }
  auto traffic =
      arguments.trace.empty() ? graph_traffic(arguments.graph) : mapping::read_trace(arguments.trace);
  if (arguments.ranks != 0 && arguments.ranks != traffic.ranks)
    throw InputError(fmt::format("--ranks {}: there are {} in the file", arguments.ranks, traffic.ranks));
  return traffic;
}

/// The node of every rank, as --ranks-per-node says, or as the traced program had it.
std::vector<int> order_of(const Arguments& arguments, const mapping::Traffic& traffic) {
  if (arguments.ranks_per_node > 0) return mapping::in_order(traffic.ranks, arguments.ranks_per_node);
  if (traffic.hosts.empty()) throw InputError("map: --ranks-per-node is missing");
  std::unordered_map<std::string_view, int> node_of_host;
  std::vector<int> order;
  for (const auto& host : traffic.hosts)
    order.push_back(node_of_host.try_emplace(host, static_cast<int>(node_of_host.size())).first->second);
  return order;
}

int most_on_a_node(const std::vector<int>& order) {
  std::unordered_map<int, int> ranks;
  int most = 0;
  for (const int node : order) most = std::max(most, ++ranks[node]);
  return most;
}

network::CostModel read_model(const Arguments& arguments) {
  constexpr std::string_view measured = "measured:";
  std::string profile = arguments.profile;
  if (profile.empty() && arguments.network.starts_with(measured))
    profile = arguments.network.substr(measured.size());
  return profile.empty() ? network::CostModel()
                         : network::cost_model(machine::load_profile(profile), profile);
}

Task read_task(const Arguments& arguments) {
  const mapping::Launcher* launcher = arguments.launcher.empty()
                                          ? nullptr
                                          : &find_named(mapping::launchers(), arguments.launcher, "launcher");
  if (launcher == nullptr && !arguments.output.empty())
    throw InputError("map: --output wants --launcher, too");
  if (!arguments.schedules.empty() && arguments.collectives.empty())
    throw InputError("map: --schedules wants --collective, too");
  if (!arguments.messages.empty() && arguments.collectives.empty())
    throw InputError("map: --messages wants --collective, too");
  auto calls = parse_collective_calls(arguments.collectives);
  const auto model = read_model(arguments);
  const auto traffic = read_traffic(arguments);
  auto order = order_of(arguments, traffic);
  const int per_node = most_on_a_node(order);
  const int nodes = std::ranges::max(order) + 1;
  auto hosts = arguments.hosts.empty() ? distinct(traffic.hosts) : read_hosts(arguments.hosts, nodes, order);
  const bool has_enough = static_cast<int>(hosts.size()) >= nodes;
  if (!arguments.hosts.empty() && !has_enough)
    throw InputError(fmt::format("{}: {} hosts, but {} are needed", arguments.hosts, hosts.size(), nodes));
  if (!has_enough) hosts.clear();
  if (launcher != nullptr && launcher->needs_hosts && hosts.empty())
    throw InputError(
        fmt::format("--launcher {}: give the names of {} hosts by --hosts FILE", launcher->name, nodes));
  auto network = network::make_network(arguments.network, nodes);
  std::vector<std::vector<int>> compared;
  for (const auto& path : arguments.compare)
    compared.push_back(read_placement(path, traffic.ranks, network->nodes()));
  return {mapping::CommGraph(traffic.ranks, traffic.messages),
          std::move(network),
          model,
          std::move(hosts),
          traffic.collective_bytes,
          std::move(order),
          per_node,
          nodes,
          std::move(compared),
          std::move(calls)};
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 100 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_row(const std::string& name, const mapping::Metrics& metrics) {
  fmt::print(stderr, "  {:<22}{:>8.1f} %{:>8.1f} %{:>12.4g}{:>7.2f}{:>7}{:>11.2f}{:>11.2f}{:>11.2f}\n", name,
             percent(metrics.inside.messages, metrics.total.messages),
             percent(metrics.inside.bytes, metrics.total.bytes), static_cast<double>(metrics.hop_bytes),
             metrics.mean_hops, metrics.most_hops, 1e6 * metrics.rank_seconds, 1e6 * metrics.link_seconds,
             1e6 * metrics.seconds);
}

struct Outcome {
  mapping::Placement placement;
  mapping::Evaluation order;
  mapping::Evaluation round;
  mapping::Evaluation placed;
  std::vector<mapping::Metrics> compared;
  std::vector<forecast::JointPlacement> joint;  ///< the best first; empty where no collectives are called
  double seconds;                               ///< that placing took
};

/// What is best with the collectives stands for what is best without.
mapping::Placement taken(const forecast::JointPlacement& best, const std::vector<int>& order) {
  return {best.node_of, {{best.how, best.seconds()}}, best.how, best.node_of == order};
}

Outcome place_ranks(const Task& task, const mapping::Objective& objective, int finalists) {
  const Stopwatch watch;
  std::vector<forecast::JointPlacement> joint;
  if (!task.collectives.empty()) {
    collectives::SearchOptions options;
    options.finalists = finalists;
    joint =
        forecast::place_jointly(task.graph, *task.network, task.model, task.order, task.collectives, options);
  }
  auto placement = joint.empty()
                       ? mapping::place(task.graph, *task.network, task.model, task.order, objective)
                       : taken(joint.front(), task.order);
  const double seconds = watch.seconds();
  const auto evaluate = [&](const std::vector<int>& node_of) {
    return mapping::Evaluation(task.graph, *task.network, task.model, node_of);
  };
  auto placed = evaluate(placement.node_of);
  std::vector<mapping::Metrics> compared;
  for (const auto& node_of : task.compared) compared.push_back(evaluate(node_of).metrics());
  return {std::move(placement),
          evaluate(task.order),
          evaluate(mapping::dealt_round(task.order)),
          std::move(placed),
          std::move(compared),
          std::move(joint),
          seconds};
}

void explain(const Arguments& arguments, const Task& task, const Outcome& outcome,
             const mapping::Objective& objective) {
  const auto total = task.graph.total();
  fmt::print(stderr, "{} ranks, {} on each of {} nodes of {}; {} messages, {} bytes; costs {}\n",
             task.graph.ranks(), task.ranks_per_node, task.nodes, arguments.network, total.messages,
             total.bytes, task.model.source);
  if (task.collective_bytes > 0)
    fmt::print(stderr, "collective calls, of {} bytes, are in no message: they are not placed\n",
               task.collective_bytes);
  fmt::print(stderr, "  {:<22}{:>10}{:>10}{:>12}{:>14}{:>11}{:>11}{:>11}\n", "", "messages", "bytes", "",
             "hops", "busiest", "busiest", "exchange");
  fmt::print(stderr, "  {:<22}{:>10}{:>10}{:>12}{:>7}{:>7}{:>11}{:>11}{:>11}\n", "", "inside", "inside",
             "hop-bytes", "mean", "most", "rank, us", "link, us", "us");
  print_row("order of ranks", outcome.order.metrics());
  print_row("dealt round", outcome.round.metrics());
  print_row("placed", outcome.placed.metrics());
  for (std::size_t i = 0; i < arguments.compare.size(); ++i)
    print_row(arguments.compare[i], outcome.compared[i]);
  if (!outcome.joint.empty()) {
    cli::explain(task.collectives, outcome.joint);
  } else {
    fmt::print(stderr, "{}, tried:\n", objective.description);
    for (const auto& attempt : outcome.placement.attempts)
      fmt::print(stderr, "  {:>12.6g}  {}{}{}\n", attempt.value, attempt.how,
                 attempt.closer ? fmt::format("; played through {:.6g}", *attempt.closer) : "",
                 attempt.how == outcome.placement.how ? "  <- taken" : "");
  }
  if (outcome.placement.is_order) fmt::print(stderr, "nothing is better than the order of ranks: keep it\n");
  fmt::print(stderr, "placed in {:.2f} s\n", outcome.seconds);
}

ordered_json json_of(const mapping::Metrics& metrics) {
  return {{"messages", metrics.total.messages},
          {"messages_inside", metrics.inside.messages},
          {"bytes", metrics.total.bytes},
          {"bytes_inside", metrics.inside.bytes},
          {"hop_bytes", metrics.hop_bytes},
          {"mean_hops", metrics.mean_hops},
          {"most_hops", metrics.most_hops},
          {"busiest_rank_seconds", metrics.rank_seconds},
          {"busiest_link_seconds", metrics.link_seconds},
          {"seconds", metrics.seconds}};
}

/// The cells that are not empty.
ordered_json json_of(const mapping::HeatMap& map) {
  ordered_json json{
      {"from", ordered_json::array()}, {"to", ordered_json::array()}, {"bytes", ordered_json::array()}};
  for (std::size_t i = 0; i < map.bytes.size(); ++i) {
    if (map.bytes[i] == 0) continue;
    json["from"].push_back(i / map.cells);
    json["to"].push_back(i % map.cells);
    json["bytes"].push_back(static_cast<std::int64_t>(map.bytes[i]));
  }
  return json;
}

/// For the report: ranks in the order of their nodes, taken together where there are many.
ordered_json communication_json(const Outcome& outcome) {
  constexpr int most_cells = 256;
  const auto before = mapping::heat_map(outcome.order, most_cells);
  return {{"cells", before.cells},
          {"order_of_ranks", json_of(before)},
          {"placed", json_of(mapping::heat_map(outcome.placed, most_cells))}};
}

ordered_json json_of(const Arguments& arguments, const Task& task, const Outcome& outcome) {
  ordered_json attempts = ordered_json::array();
  for (const auto& attempt : outcome.placement.attempts)
    attempts.push_back({{"how", attempt.how},
                        {"value", attempt.value},
                        {"played_through", attempt.closer ? ordered_json(*attempt.closer) : ordered_json()}});
  ordered_json compared = ordered_json::array();
  for (std::size_t i = 0; i < arguments.compare.size(); ++i) {
    auto costs = json_of(outcome.compared[i]);
    costs["file"] = arguments.compare[i];
    compared.push_back(std::move(costs));
  }
  const auto& model = task.model;
  return {{"schema", "ayatori.placement/1"},
          {"ranks", task.graph.ranks()},
          {"ranks_per_node", task.ranks_per_node},
          {"nodes", task.nodes},
          {"network", arguments.network},
          {"objective", arguments.objective},
          {"model",
           {{"source", model.source},
            {"inside_latency", model.inside.latency},
            {"inside_bandwidth", model.inside.bandwidth},
            {"between_latency", model.between_latency},
            {"hop_latency", model.hop_latency},
            {"link_bandwidth", model.link_bandwidth},
            {"port_bandwidth", model.port_bandwidth}}},
          {"order_of_ranks", json_of(outcome.order.metrics())},
          {"dealt_round", json_of(outcome.round.metrics())},
          {"placed", json_of(outcome.placed.metrics())},
          {"compared", compared},
          {"how", outcome.placement.how},
          {"attempts", attempts},
          {"joint", outcome.joint.empty() ? ordered_json() : cli::json_of(task.collectives, outcome.joint)},
          {"seconds", outcome.seconds},
          {"node_of_rank", outcome.placement.node_of},
          {"communication", communication_json(outcome)}};
}

/// Where FILE, N and K (ranks of a node) stand in a launcher's usage.
std::string usage_of(const mapping::Launcher& launcher, const std::string& file, int ranks, int per_node) {
  std::string text(launcher.usage);
  text.replace(text.rfind("FILE"), 4, file);  // not that of SLURM_HOSTFILE
  const auto fill_in = [&](std::string_view option, int value) {
    const auto place = text.find(option);
    if (place != std::string::npos) text.replace(place + option.size() - 1, 1, std::to_string(value));
  };
  fill_in("-n N", ranks);
  fill_in("--distribution=plane=K", per_node);
  return text;
}

/// The graph as --graph reads it.
std::string matrix_market(const mapping::CommGraph& graph) {
  std::string entries;
  std::int64_t count = 0;
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    for (const auto& talk : graph.talks(rank)) {
      if (talk.out.messages == 0) continue;
      entries += fmt::format("{} {} {}\n", rank + 1, talk.peer + 1, talk.out.bytes);
      ++count;
    }
  }
  return fmt::format(
      "%%MatrixMarket matrix coordinate real general\n% bytes from rank to rank, counted from 1\n"
      "{0} {0} {1}\n{2}",
      graph.ranks(), count, entries);
}

void write_launch_file(const Arguments& arguments, const Task& task, const std::string& content) {
  const auto& launcher = find_named(mapping::launchers(), arguments.launcher, "launcher");
  if (arguments.output.empty()) {
    fmt::print("{}", content);
    return;
  }
  write_file(arguments.output, content);
  fmt::print(stderr, "{}\n", usage_of(launcher, arguments.output, task.graph.ranks(), task.ranks_per_node));
}

int run_map(const comm::Comm& world, const Arguments& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    const auto& objective = find_named(mapping::objectives(), arguments.objective, "objective");
    const auto task = read_task(arguments);
    const auto outcome = place_ranks(task, objective, arguments.finalists);
    std::string launch_file;
    if (!arguments.launcher.empty())
      launch_file = find_named(mapping::launchers(), arguments.launcher, "launcher")
                        .write({outcome.placement.node_of, task.hosts, *task.network});
    explain(arguments, task, outcome, objective);
    if (!arguments.json.empty()) write_file(arguments.json, json_of(arguments, task, outcome).dump(1) + "\n");
    if (!arguments.graph_output.empty()) write_file(arguments.graph_output, matrix_market(task.graph));
    if (!arguments.schedules.empty())
      write_file(arguments.schedules,
                 schedules_json(task.collectives, outcome.joint.front(), arguments.network).dump(1) + "\n");
    if (!arguments.messages.empty())
      write_file(arguments.messages, messages_json(task.collectives, outcome.joint).dump() + "\n");
    if (!arguments.platform.empty())
      write_file(arguments.platform,
                 network::simgrid_platform(*task.network, task.model, task.nodes, task.ranks_per_node));
    if (!arguments.svg.empty()) {
      const auto title = fmt::format("{} ranks, {} on a node, {}", task.graph.ranks(), task.ranks_per_node,
                                     arguments.network);
      write_file(arguments.svg, draw_svg(outcome.order, outcome.placed, title));
    }
    if (!arguments.launcher.empty()) write_launch_file(arguments, task, launch_file);
  });
  return 0;
}

std::string syntaxes() {
  std::string text;
  for (const auto& type : network::network_types())
    text += fmt::format("\n{} ({})", type.syntax, type.description);
  return text;
}

}  // namespace

void add_map(Command& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("map", "Place ranks on nodes so that they talk least over the network");
  command->add_option("MATRIX", arguments->matrix,
                      "A file or generator spec: ranks talk as in the halo exchange of its product");
  command->add_option("--trace", arguments->trace, "What libayatori_pmpi.so has recorded of any program");
  command->add_option("--graph", arguments->graph,
                      "Bytes from rank to rank: METIS's format (.graph, .metis), or a square matrix file");
  command->add_option("--ranks", arguments->ranks, "Ranks that the matrix is spread over")
      ->check(range(1, 1 << 24));
  command
      ->add_option("--ranks-per-node", arguments->ranks_per_node,
                   "On every node but perhaps the last; without it, the nodes of a trace are as they were")
      ->check(range(1, 1 << 24));
  command->add_option("--partition", arguments->partition,
                      "Of the matrix: 'rows', blocks of as many rows each, or 'graph', by METIS");
  command->add_option("--network", arguments->network, "One of:" + syntaxes());
  command->add_option("--profile", arguments->profile,
                      "What messages cost: a file of `ayatori probe`, or a published machine");
  command
      ->add_option("--objective", arguments->objective, "To make small: " + names_of(mapping::objectives()))
      ->suggest(names_in(mapping::objectives()));
  command->add_option("--collective", arguments->collectives,
                      "The program calls this, too: OPERATION:BYTES[:CALLS for each exchange]. Exchange and "
                      "collectives together decide");
  command->add_option("--schedules", arguments->schedules,
                      "Write the best schedules of these collectives here, for the ranks as they are placed");
  command->add_option(
      "--messages", arguments->messages,
      "Write the messages of these collectives here for every placement that was looked at, round "
      "by round, to simulate them");
  command
      ->add_option("--finalists", arguments->finalists,
                   "Schedules that are replayed for each collective; 0: the model decides")
      ->check(range(0, 1000))
      ->capture_default_str();
  command
      ->add_option("--launcher", arguments->launcher,
                   "Whose file to write: " + names_of(mapping::launchers()))
      ->suggest(names_in(mapping::launchers()));
  command->add_option("--hosts", arguments->hosts, "Names of the nodes in their order, one on every line");
  command->add_option("-o,--output", arguments->output, "The launcher's file; without it, standard output");
  command->add_option("--graph-output", arguments->graph_output,
                      "Write bytes from rank to rank here, as --graph reads them (.mtx)");
  command->add_option(
      "--compare", arguments->compare,
      "Report the costs of this placement, too: a file with the node of every rank, in order");
  command->add_option("--platform", arguments->platform,
                      "Write the network here as SimGrid reads it, to simulate placements on");
  command->add_option("--json", arguments->json, "Write the placement and its costs here");
  command->add_option("--svg", arguments->svg,
                      "Draw who talks to whom, and the load of links, before and after");
  command->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_map(world, *arguments); };
  });
}

}  // namespace ayatori::cli
