#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/search/search.hpp"
#include "ayatori/collectives/search/search_json.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/profile.hpp"
#include "cli/collectives/collectives.hpp"

namespace ayatori::cli {

namespace {

struct SearchRequest {
  std::string operation;
  std::string json;
  std::string profile;
  std::string sizes = "8:64M";
  collectives::SearchOptions limits;
  int ranks = 16;
};

int search(const comm::Comm& world, const SearchRequest& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    const auto operation = collectives::operation(arguments.operation);
    const auto sizes = sizes_of(operation, parse_sizes(arguments.sizes), arguments.ranks, 1);
    const auto profile = machine::load_profile(arguments.profile);
    const auto choices = search(operation, arguments.ranks, profile, sizes, arguments.limits);
    constexpr int width = 56;
    const bool has_known = choices.front().binomial_seconds > 0;
    fmt::print(
        "{} on {} ranks of {}; predicted microseconds\n{:>11}  {:<{}}{:>11}{:>11}{}\n",
        collectives::type_of(operation).name, arguments.ranks, profile.node.hostname, "bytes", "best", width,
        "model", "replay",
        has_known ? fmt::format("{:>11}{:>8}{:>11}{:>8}", "binomial", "ratio", "all S, M", "ratio") : "");
    for (const auto& choice : choices) {
      const auto& best = choice.best();
      fmt::print("{:>11}  {:<{}}{:>11.2f}{:>11.2f}", choice.bytes, shortened(describe(best.plan), width - 1),
                 width, 1e6 * best.seconds, 1e6 * best.replayed_seconds);
      if (has_known)
        fmt::print("{:>11.2f}{:>8.2f}{:>11.2f}{:>8.2f}", 1e6 * choice.binomial_seconds,
                   choice.binomial_seconds / best.seconds, 1e6 * choice.rabenseifner_seconds,
                   choice.rabenseifner_seconds / best.seconds);
      fmt::print("\n");
    }
    if (arguments.json.empty()) return;
    const auto json = schedules_json(operation, arguments.ranks, arguments.profile, choices);
    write_file(arguments.json, json.dump(1) + "\n");
  });
  return 0;
}

}  // namespace

void add_collectives_search(Command& collectives, Run& run) {
  auto arguments = std::make_shared<SearchRequest>();
  auto* finding = collectives.add_subcommand("search", "Find the best word for every size on a machine");
  finding->examples(
      {{"ayatori collectives search bcast --profile altix3700bx2 --ranks 8 --sizes 8:64K --json best.json",
        "the best for every size, kept"},
       {"ayatori collectives search allreduce --profile altix3700bx2 --ranks 64 --words-only --most-radix 2 "
        "--finalists 0",
        "words alone, by the model alone"}});
  add_operation(*finding, arguments->operation);
  finding
      ->add_option("--profile", arguments->profile, "Of the machine: a file, or the name of a published one")
      ->required();
  auto& limits = arguments->limits;
  finding->add_option("--ranks", arguments->ranks, "Of the job")
      ->check(range(1, 65536))
      ->capture_default_str();
  finding->add_option("--most-radix", limits.most_radix, "One more than the partners at once")
      ->check(range(2, 1024))
      ->capture_default_str();
  finding->add_option("--most-segments", limits.most_segments, "That a pipeline cuts the buffer into")
      ->check(range(1, 4096))
      ->capture_default_str();
  finding
      ->add_option("--finalists", limits.finalists, "That are replayed for every size; 0: the model decides")
      ->check(range(0, 1000))
      ->capture_default_str();
  finding->add_flag(
      "--words-only", limits.words_only,
      "Neither rings, circulant graphs, leaders nor segments; with --most-radix 2 the paper's search");
  finding->add_flag("--keep-order", limits.keeps_order, "Right for operators that do not commute");
  finding->add_flag("--reproducible", limits.reproducible,
                    "The same bits for every size, wherever it is cut");
  add_sizes(*finding, arguments->sizes);
  finding->add_option("--json", arguments->json,
                      "Write the result here (schema ayatori.collective-schedules/1)");
  finding->callback([&run, arguments] {
    run = [arguments](const comm::Comm& world) { return search(world, *arguments); };
  });
}

}  // namespace ayatori::cli
