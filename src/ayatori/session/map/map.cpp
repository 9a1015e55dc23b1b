#include "ayatori/session/map/map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/regular_file.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/mapping/draw.hpp"
#include "ayatori/mapping/launchers/hosts_file.hpp"
#include "ayatori/mapping/launchers/launcher.hpp"
#include "ayatori/session/map/traffic.hpp"

namespace ayatori::session {

namespace {

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

/// Names of the nodes that are used; nothing where they are neither known nor needed.
std::vector<std::string> hosts_for(const MapRequest& request, const mapping::Traffic& traffic, int nodes,
                                   const std::vector<int>& order) {
  auto hosts = request.hosts.empty() ? distinct(traffic.hosts) : read_hosts(request.hosts, nodes, order);
  const bool has_enough = static_cast<int>(hosts.size()) >= nodes;
  if (!request.hosts.empty() && !has_enough)
    throw InputError(fmt::format("{}: {} hosts, but {} are needed", request.hosts, hosts.size(), nodes));
  if (!has_enough) hosts.clear();
  if (request.launcher.empty()) return hosts;
  const auto& launcher = find_named(mapping::launchers(), request.launcher, "launcher");
  if (launcher.needs_hosts && hosts.empty())
    throw InputError(
        fmt::format("--launcher {}: give the names of {} hosts by --hosts FILE", launcher.name, nodes));
  return hosts;
}

mapping::Traffic read_traffic(const MapRequest& request, const MatrixTraffic& matrix) {
  const int sources = (matrix ? 1 : 0) + (request.trace.empty() ? 0 : 1) + (request.graph.empty() ? 0 : 1);
  if (sources != 1) throw InputError("map: give one of MATRIX, --trace FILE and --graph FILE");
  if (matrix) {
    if (!request.ranks) throw InputError("map: a matrix wants --ranks");
    return matrix(request.partition, *request.ranks);
  }
  auto traffic = request.trace.empty() ? graph_traffic(request.graph) : mapping::read_trace(request.trace);
  if (request.ranks && *request.ranks != traffic.ranks)
    throw InputError(fmt::format("--ranks {}: there are {} in the file", *request.ranks, traffic.ranks));
  return traffic;
}

/// The node of every rank, as --ranks-per-node says, or as the traced program had it.
std::vector<int> order_of(const MapRequest& request, const mapping::Traffic& traffic) {
  if (request.ranks_per_node) return mapping::in_order(traffic.ranks, *request.ranks_per_node);
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

network::CostModel read_model(const MapRequest& request) {
  constexpr std::string_view measured = "measured:";
  std::string profile = request.profile;
  if (profile.empty() && request.network.starts_with(measured))
    profile = request.network.substr(measured.size());
  return profile.empty() ? network::CostModel()
                         : network::cost_model(machine::load_profile(profile), profile);
}

/// What is best with the collectives stands for what is best without.
mapping::Placement taken(const forecast::JointPlacement& best, const std::vector<int>& order) {
  return {best.node_of, {{best.how, best.seconds()}}, best.how, best.node_of == order};
}

}  // namespace

MapQuestion read_question(const MapRequest& request, const MatrixTraffic& matrix) {
  check(request);
  auto calls = parse_collective_calls(request.collectives);
  const auto model = read_model(request);
  if (!request.hosts.empty()) check_regular_file(request.hosts);  // before the matrix, which may take long
  for (const auto& path : request.compare) check_regular_file(path);
  const auto traffic = read_traffic(request, matrix);
  auto order = order_of(request, traffic);
  const int per_node = most_on_a_node(order);
  const int nodes = std::ranges::max(order) + 1;
  auto hosts = hosts_for(request, traffic, nodes, order);
  auto network = network::make_network(request.network, nodes);
  std::vector<std::vector<int>> compared;
  for (const auto& path : request.compare)
    compared.push_back(read_placement(path, traffic.ranks, network->nodes()));
  return {request,
          mapping::CommGraph(traffic.ranks, traffic.messages),
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

MapRun place_ranks(const MapQuestion& question) {
  const Stopwatch watch;
  std::vector<forecast::JointPlacement> joint;
  if (!question.collectives.empty()) {
    collectives::SearchOptions options;
    options.finalists = question.request.finalists;
    joint = forecast::place_jointly(question.graph, *question.network, question.model, question.order,
                                    question.collectives, options);
  }
  auto placement =
      joint.empty()
          ? mapping::place(question.graph, *question.network, question.model, question.order,
                           find_named(mapping::objectives(), question.request.objective, "objective"))
          : taken(joint.front(), question.order);
  const double seconds = watch.seconds();
  const auto evaluate = [&](const std::vector<int>& node_of) {
    return mapping::Evaluation(question.graph, *question.network, question.model, node_of);
  };
  auto placed = evaluate(placement.node_of);
  std::vector<mapping::Metrics> compared;
  for (const auto& node_of : question.compared) compared.push_back(evaluate(node_of).metrics());
  return {std::move(placement),
          evaluate(question.order),
          evaluate(mapping::dealt_round(question.order)),
          std::move(placed),
          std::move(compared),
          std::move(joint),
          seconds};
}

std::string launch_file(const MapQuestion& question, const MapRun& run) {
  return find_named(mapping::launchers(), question.request.launcher, "launcher")
      .write({run.placement.node_of, question.hosts, *question.network});
}

std::string launch_command(const MapQuestion& question, const std::string& file) {
  std::string text(find_named(mapping::launchers(), question.request.launcher, "launcher").usage);
  text.replace(text.rfind("FILE"), 4, file);  // not that of SLURM_HOSTFILE
  const auto fill_in = [&](std::string_view option, int value) {
    const auto place = text.find(option);
    if (place != std::string::npos) text.replace(place + option.size() - 1, 1, std::to_string(value));
  };
  fill_in("-n N", question.graph.ranks());
  fill_in("--distribution=plane=K", question.ranks_per_node);
  return text;
}

std::string picture(const MapQuestion& question, const MapRun& run) {
  return draw_svg(run.order, run.placed,
                  fmt::format("{} ranks, {} on a node, {}", question.graph.ranks(), question.ranks_per_node,
                              question.request.network));
}

}  // namespace ayatori::session
