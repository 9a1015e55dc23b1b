#include "ayatori/network/simgrid_platform.hpp"

#include <iterator>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori::network {

std::string simgrid_platform(const Network& network, const CostModel& model, int nodes, int cores) {
  constexpr int most_nodes = 1024;  // some 200 MB of routes
  if (nodes > most_nodes)
    throw InputError(
        fmt::format("a SimGrid platform of {} nodes: at most {}, it has a route for every two of them", nodes,
                    most_nodes));
  std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<zone id=\"network\" routing=\"Full\">\n";
  auto out = std::back_inserter(text);
  const auto add_link = [&](const std::string& name, double bandwidth, double latency, const char* sharing) {
    fmt::format_to(out, "<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"{}\"/>\n", name,
                   bandwidth, latency, sharing);
  };
  for (int node = 0; node < nodes; ++node)
    fmt::format_to(out, "<host id=\"node-{}\" speed=\"1Gf\" core=\"{}\"/>\n", node, cores);
  // A copy takes its rank's time: the way itself is as good as free.
  constexpr double free_bandwidth = 1e18;
  add_link("inside", free_bandwidth, 0, "FATPIPE");
  for (int node = 0; node < nodes; ++node) {
    add_link(fmt::format("out{}", node), model.port_bandwidth, 0, "SHARED");
    add_link(fmt::format("in{}", node), model.port_bandwidth, 0, "SHARED");
  }
  const auto& links = network.links();
  for (std::size_t link = 0; link < links.size(); ++link)
    add_link(std::to_string(link), links[link].width * model.link_bandwidth, model.hop_latency, "SHARED");
  std::vector<int> way;
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      fmt::format_to(out, R"(<route src="node-{}" dst="node-{}" symmetrical="NO">)", from, to);
      if (from == to) {
        text += R"(<link_ctn id="inside"/></route>)"
                "\n";
        continue;
      }
      way.clear();
      network.route(from, to, way);
      fmt::format_to(out, R"(<link_ctn id="out{}"/>)", from);
      for (const int link : way) fmt::format_to(out, R"(<link_ctn id="{}"/>)", link);
      fmt::format_to(out, "<link_ctn id=\"in{}\"/></route>\n", to);
    }
  }
  text += "</zone>\n</platform>\n";
  return text;
}

}  // namespace ayatori::network
