#include "ayatori/session/map/map.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/standard_output.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/network/simgrid_platform.hpp"
#include "ayatori/session/map/traffic.hpp"
#include "cli/command.hpp"
#include "cli/parser/declare.hpp"

namespace ayatori::cli {

namespace {

struct MapArguments {
  std::string matrix;
  session::MapRequest request;
  std::string output;
  std::string json;
  std::string svg;
  std::string graph_output;
  std::string platform;
  std::string schedules;
  std::string messages;
};

void check(const MapArguments& arguments) {
  check(arguments.request);
  if (arguments.request.launcher.empty() && !arguments.output.empty())
    throw InputError("map: --output wants --launcher, too");
  if (!arguments.request.collectives.empty()) return;
  if (!arguments.schedules.empty()) throw InputError("map: --schedules wants --collective, too");
  if (!arguments.messages.empty()) throw InputError("map: --messages wants --collective, too");
}

session::MapQuestion read_question(const MapArguments& arguments) {
  if (arguments.matrix.empty()) return session::read_question(arguments.request);
  return session::read_question(arguments.request, [&](const std::string& partition, int ranks) {
    return session::matrix_traffic(arguments.matrix, partition, ranks);
  });
}

void write_launch_file(const MapArguments& arguments, const session::MapQuestion& question,
                       const std::string& content) {
  if (arguments.output.empty() || is_standard_output(arguments.output)) {
    fmt::print("{}", content);
    return;
  }
  write_file(arguments.output, content);
  fmt::print(stderr, "{}\n", launch_command(question, arguments.output));
}

void write_results(const MapArguments& arguments, const session::MapQuestion& question,
                   const session::MapRun& run) {
  if (!arguments.json.empty()) write_file(arguments.json, to_json(question, run).dump(1) + "\n");
  if (!arguments.graph_output.empty())
    write_file(arguments.graph_output, session::matrix_market(question.graph));
  if (!arguments.schedules.empty())
    write_file(arguments.schedules, schedules_json(question, run).dump(1) + "\n");
  if (!arguments.messages.empty()) write_file(arguments.messages, messages_json(question, run).dump() + "\n");
  if (!arguments.platform.empty())
    write_file(arguments.platform, network::simgrid_platform(*question.network, question.model,
                                                             question.nodes, question.ranks_per_node));
  if (!arguments.svg.empty()) write_file(arguments.svg, picture(question, run));
}

int run_map(const comm::Comm& world, const MapArguments& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    check(arguments);
    const auto question = read_question(arguments);
    const auto run = place_ranks(question);
    const bool launches = !arguments.request.launcher.empty();
    const std::string file = launches ? launch_file(question, run) : "";
    fmt::print(stderr, "{}", summary(question, run));
    write_results(arguments, question, run);
    if (launches) write_launch_file(arguments, question, file);
  });
  return 0;
}

}  // namespace

void add_map(Command& app, Run& run) {
  auto arguments = std::make_shared<MapArguments>();
  auto* command = app.add_subcommand("map", "Place ranks on nodes so that they talk least over the network");
  command->examples(
      {{"ayatori map A.mtx --ranks 8 --ranks-per-node 4 --launcher openmpi5 -o rankfile",
        "writes where the launcher shall put the ranks"},
       {"ayatori map poisson3d-7:n=12 --ranks 32 --ranks-per-node 4 --network torus:2x2x2 --svg map.svg",
        "what a better placement would save on a torus, as a picture"}});
  command->add_option("MATRIX", arguments->matrix,
                      "A file or generator spec: ranks talk as in the halo exchange of its product");
  declare(*command, session::map_options(), arguments->request);
  command->add_option("-o,--output", arguments->output, "The launcher's file; without it, standard output");
  command->add_option("--schedules", arguments->schedules,
                      "Write the best schedules of the collectives here, for the ranks as they are placed");
  command->add_option(
      "--messages", arguments->messages,
      "Write the messages of the collectives here for every placement that was looked at, round "
      "by round, to simulate them");
  command->add_option("--graph-output", arguments->graph_output,
                      "Write bytes from rank to rank here, as --graph reads them (.mtx)");
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
