#include <fmt/core.h>

#include "ayatori/base/find_named.hpp"
#include "ayatori/comm/threads.hpp"
#include "bench/papers/radix_sort.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/phases_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct RadixSortArguments {
  bench::RadixSortOptions options;
  bool no_compare = false;
  BenchOptions bench;
};

void print_sort(const bench::RadixSortResult& result) {
  print_phases("radix sort", result.phases);
  fmt::print(
      stderr,
      "{:.4g} million keys per second; fullest rank {:.2f} % above the mean; order and keys verified\n",
      1e-6 * result.keys_per_second, 100 * result.imbalance);
  if (result.peers.empty()) return;
  print_phases("own keys of a rank", result.peers);
  const double ours = result.peers.front().seconds.median;
  for (std::size_t i = 1; i < result.peers.size(); ++i)
    fmt::print(stderr, "{} takes {:.2f} times as long as radix sort\n", result.peers[i].name,
               result.peers[i].seconds.median / ours);
}

int run_sort(const comm::Comm& world, const RadixSortArguments& arguments) {
  const int threads = comm::set_threads(world, arguments.bench.threads);
  bench::RadixSortOptions options = arguments.options;
  options.repetitions = arguments.bench.repetitions;
  options.compare = !arguments.no_compare;
  const auto result = bench::time_radix_sort(world, options);
  if (world.rank() == 0) print_sort(result);
  Json json{{"schema", "ayatori.bench-radix-sort/1"},
            {"ranks", world.size()},
            {"threads", threads},
            {"keys", options.keys},
            {"key_bits", options.key_bits},
            {"digit_bits", options.digit_bits},
            {"distribution", options.distribution},
            {"form", options.form},
            {"seconds", phases_json(result.phases)},
            {"keys_per_second", result.keys_per_second},
            {"imbalance", result.imbalance},
            {"own_keys_seconds", phases_json(result.peers)}};
  write_json(world, arguments.bench.json, json);
  return 0;
}

void add_options(Command& command, bench::RadixSortOptions& options) {
  command.add_option("--keys", options.keys, "Keys of all ranks together; 4M is 4 * 2^20")
      ->as_size()
      ->capture_default_str();
  command.add_option("--key-bits", options.key_bits, "32 or 64")->capture_default_str();
  command.add_option("--digit-bits", options.digit_bits, "Digits of a pass through memory: 8 or 11")
      ->capture_default_str();
  command
      .add_option("--distribution", options.distribution,
                  "Distribution of the keys: " + names_of(bench::key_distributions()))
      ->capture_default_str();
  command.add_option("--form", options.form, "How keys travel: " + names_of(bench::radix_sort_forms()))
      ->capture_default_str();
}

}  // namespace

void add_bench_radix_sort(Command& bench, Run& run) {
  auto arguments = std::make_shared<RadixSortArguments>();
  Command* command = bench.add_subcommand("radix-sort", "Sort integers over all ranks");
  command->examples(
      {{"ayatori bench radix-sort --keys 16k --repetitions 2", "beside std::sort"},
       {"mpirun -n 2 ayatori bench radix-sort --keys 16k --repetitions 2 --distribution skewed --no-compare",
        "alone, keys of a skewed distribution"}});
  add_options(*command, arguments->options);
  command->add_flag("--no-compare", arguments->no_compare, "Leave out std::sort and its parallel sibling");
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_sort);
}

GridSetup grid_radix_sort(Command& command) {
  auto options = std::make_shared<bench::RadixSortOptions>();
  options->compare = false;
  add_options(command, *options);
  add_grid_repetitions(command, options->repetitions);
  return {[options] {
            find_named(bench::key_distributions(), options->distribution, "distribution of keys");
            find_named(bench::radix_sort_forms(), options->form, "form");
            return fmt::format("radix sort of {} keys, {}, {}", options->keys, options->distribution,
                               options->form);
          },
          [options](const comm::Comm& comm) {
            const auto result = bench::time_radix_sort(comm, *options);
            const double bytes = static_cast<double>(options->keys) * options->key_bits / 8;
            return bench::GridSample{
                result.phases[0].seconds.median, 1e-6 * result.keys_per_second, 2 * bytes,
                grid_phases(result.phases, {"splitters", "exchange"}),
                fmt::format("fullest rank {:.2f} % above the mean", 100 * result.imbalance)};
          },
          "M keys/s", [options] { return static_cast<double>(options->keys) * options->key_bits / 8; }};
}

}  // namespace ayatori::cli
