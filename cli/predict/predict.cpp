#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/forecast/scaling.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "cli/command.hpp"
#include "cli/predict/pattern_source.hpp"

namespace ayatori::cli {

namespace {

using nlohmann::ordered_json;

constexpr int most_ranks = 1 << 20;

struct Arguments {
  std::string matrix;
  std::string nodes = "1..64";
  std::string network;
  std::string profile = "auto";
  std::string partition = "contiguous";
  std::string method = "cg";
  std::string preconditioner = "none";
  std::string json;
  double memory_bandwidth = 0;  ///< GB/s of a node; 0: the profile's
  int ranks_per_node = 1;
  int threads = 1;
};

int node_count(std::string_view word, const std::string& whole) {
  const auto value = number_in<int>(word);
  if (!value || *value < 1 || *value > most_ranks)
    throw InputError(
        fmt::format("--nodes {}: give a range 1..64 (powers of two, and both ends), or numbers "
                    "1,2,8, of up to {} nodes",
                    whole, most_ranks));
  return *value;
}

/// "1..64" are powers of two with both ends; several such, or single numbers, are separated by commas.
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

struct Result {
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  forecast::Scaling scaling;
};

/// With all names and numbers checked before the matrix is read.
struct Task {
  std::set<int> nodes;
  const forecast::Partition& partition;
  const forecast::IterationWork& work;
  const forecast::VectorPreconditioner& preconditioner;
  std::unique_ptr<network::Network> network;
  std::optional<double> memory_bandwidth;
};

Task read_task(const Arguments& arguments) {
  auto nodes = node_counts(arguments.nodes);
  const int most_nodes = *nodes.rbegin();
  if (std::int64_t{most_nodes} * arguments.ranks_per_node > most_ranks)
    throw InputError(fmt::format("{} nodes x {} ranks are more than {}", most_nodes, arguments.ranks_per_node,
                                 most_ranks));
  if (!std::isfinite(arguments.memory_bandwidth) || arguments.memory_bandwidth < 0)
    throw InputError(fmt::format("--memory-bandwidth {}: not a number of GB/s", arguments.memory_bandwidth));
  auto network = arguments.network.empty() ? nullptr : network::make_network(arguments.network, most_nodes);
  return {std::move(nodes),
          find_named(forecast::partitions(), arguments.partition, "partition"),
          find_named(forecast::iteration_works(), arguments.method, "method"),
          find_named(forecast::vector_preconditioners(), arguments.preconditioner, "preconditioner"),
          std::move(network),
          arguments.memory_bandwidth > 0 ? std::optional(1e9 * arguments.memory_bandwidth) : std::nullopt};
}

Result forecast_all(const Arguments& arguments, const Task& task, const machine::Profile& profile) {
  std::vector<forecast::JobMachine> machines;  // before the matrix is read, which may take long
  for (const int nodes : task.nodes)
    machines.emplace_back(profile, arguments.profile,
                          forecast::JobShape{nodes, arguments.ranks_per_node, arguments.threads},
                          task.memory_bandwidth);
  const auto pattern = read_pattern(arguments.matrix);
  if (pattern.rows() < 1) throw InputError(fmt::format("{}: the matrix has no rows", arguments.matrix));
  return {pattern.rows(), pattern.nonzeros(),
          forecast::predict_scaling(pattern, task.partition, task.work, task.preconditioner, machines,
                                    task.network.get())};
}

void print(const Arguments& arguments, const Task& task, const Result& result) {
  fmt::print(stderr,
             "{}: {} rows, {} nonzeros; {}, {} with preconditioner {}; {} rank{} x {} thread{} a node\n",
             arguments.matrix, result.rows, result.nonzeros, arguments.method, task.work.meaning,
             arguments.preconditioner, arguments.ranks_per_node, arguments.ranks_per_node == 1 ? "" : "s",
             arguments.threads, arguments.threads == 1 ? "" : "s");
  fmt::print(stderr, "machine: {}{}\n", arguments.profile,
             arguments.network.empty() ? "" : ", network " + arguments.network);
  const auto& scaling = result.scaling;
  for (const auto& assumption : scaling.assumptions) fmt::print(stderr, "assumed: {}\n", assumption);
  fmt::print(stderr, "{:>7}{:>8}{:>12}{:>9}{:>6}  |{:>8}{:>8}{:>9}{:>9}{:>9}{:>7}  % | bound by\n", "nodes",
             "ranks", "us", "speed-up", "eff.", "product", "vectors", "imbal.", "halo lat", "halo bw",
             "reduc.");
  for (const auto& forecast : scaling.forecasts) {
    const auto percent = [&](forecast::Phase phase) { return 100 * forecast.share(phase); };
    using enum forecast::Phase;
    fmt::print(
        stderr,
        "{:>7}{:>8}{:>12.2f}{:>9.2f}{:>6.2f}  |{:>8.1f}{:>8.1f}{:>9.1f}{:>9.1f}{:>9.1f}{:>7.1f}    | {}\n",
        forecast.shape.nodes, forecast.shape.ranks(), 1e6 * forecast.total(), scaling.speed_up(forecast),
        scaling.efficiency(forecast), percent(product), percent(vectors), percent(imbalance),
        percent(halo_latency), percent(halo_bandwidth), percent(reductions),
        forecast::type_of(forecast.bound()).name);
  }
  const auto& conclusion = scaling.conclusion;
  for (const auto& crossover : conclusion.crossovers) fmt::print(stderr, "{}\n", crossover);
  if (!conclusion.scaling.empty()) fmt::print(stderr, "{}\n", conclusion.scaling);
  fmt::print(stderr, "{}\n", conclusion.sentence);
}

ordered_json json_of(const Arguments& arguments, const Result& result) {
  ordered_json json{
      {"schema", "ayatori.predict/1"},
      {"matrix", arguments.matrix},
      {"rows", result.rows},
      {"nonzeros", result.nonzeros},
      {"method", arguments.method},
      {"preconditioner", arguments.preconditioner},
      {"partition", arguments.partition},
      {"profile", arguments.profile},
      {"network", arguments.network.empty() ? ordered_json(nullptr) : ordered_json(arguments.network)},
      {"ranks_per_node", arguments.ranks_per_node},
      {"threads", arguments.threads}};
  json.update(forecast::to_json(result.scaling));
  return json;
}

int run_predict(const comm::Comm& world, const Arguments& arguments) {
  const auto task = comm::agree(world, [&] { return read_task(arguments); });
  const auto machine = session::find_profile(world, arguments.profile);
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    if (!machine.profile)
      throw InputError(
          fmt::format("predict: there is no profile of this machine{}: give --profile (see ayatori probe)",
                      session::reason_of(machine)));
    const auto result = forecast_all(arguments, task, *machine.profile);
    print(arguments, task, result);
    if (!arguments.json.empty()) write_file(arguments.json, json_of(arguments, result).dump(1) + "\n");
  });
  return 0;
}

}  // namespace

void add_predict(Command& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  auto* command =
      app.add_subcommand("predict", "How an iteration would scale on a machine, and what bounds it");
  command
      ->add_option("MATRIX", arguments->matrix,
                   "A file, a generator spec, or npb-cg:CLASS, the matrix of that benchmark")
      ->required();
  command->add_option("--nodes", arguments->nodes, "1..1024: powers of two and both ends; or 1,2,8")
      ->capture_default_str();
  command->add_option("--ranks-per-node", arguments->ranks_per_node, "Ranks on each node")
      ->check(range(1, most_ranks))
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Of a rank")
      ->check(range(1, most_ranks))
      ->capture_default_str();
  command->add_option("--network", arguments->network,
                      "Between nodes, as for `ayatori map`; without it messages share ports only");
  command
      ->add_option("--profile", arguments->profile,
                   "Machine profile (see probe): auto, a file, or the name of a published one")
      ->capture_default_str();
  command->add_option("--memory-bandwidth", arguments->memory_bandwidth,
                      "GB/s of a node with all its ranks at work, instead of the profile's");
  command->add_option("--partition", arguments->partition, "Of the rows: " + names_of(forecast::partitions()))
      ->capture_default_str();
  command->add_option("--method", arguments->method, names_of(forecast::iteration_works()))
      ->capture_default_str();
  command
      ->add_option("--preconditioner", arguments->preconditioner,
                   names_of(forecast::vector_preconditioners()))
      ->capture_default_str();
  command->add_option("--json", arguments->json, "Write the forecast here (schema ayatori.predict/1)");
  command->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_predict(world, *arguments); };
  });
}

}  // namespace ayatori::cli
