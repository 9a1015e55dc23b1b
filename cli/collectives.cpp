#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/draw.hpp"
#include "ayatori/collectives/plan_json.hpp"
#include "ayatori/collectives/search.hpp"
#include "ayatori/collectives/table.hpp"
#include "ayatori/collectives/validate.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/machine/measure.hpp"
#include "bench/collectives.hpp"
#include "bench/tuned_table.hpp"
#include "cli/command.hpp"
#include "cli/machine_profile.hpp"

namespace ayatori::cli {

namespace {

using collectives::DigitOrder;

using collectives::schedules_schema;

struct Arguments {
  std::string operation;
  std::string word;
  std::string order = "NFFL";
  std::string svg;
  std::string json;
  std::string profile;
  std::string sizes = "8:64M";
  std::vector<std::string> radices;
  int segments = 1;
  int stripes = 1;
  int group = 1;
  collectives::SearchOptions limits;
  bool all_finalists = false;
  std::string schedules;
  bench::CollectiveOptions timing;
  std::string side = "both";
  std::vector<std::string> operations;
  std::string table;
  std::string tuned_sizes = "8:4M";
  std::string tuned_profile = "auto";
  double tuning_seconds = 60;
  int digits = 2;
  int ranks = 16;
  int root = 0;
};

DigitOrder digit_order(const std::string& name) {
  for (const DigitOrder order : {DigitOrder::near_first, DigitOrder::far_first}) {
    if (name == name_of(order)) return order;
  }
  throw InputError(fmt::format("--order {}: choose NFFL (near first, far last) or FFNL", name));
}

/// "64K": a number of bytes.
std::int64_t parse_bytes(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string suffix(end, text.data() + text.size());
  int shift = -1;
  if (suffix.empty()) shift = 0;
  if (suffix == "K") shift = 10;
  if (suffix == "M") shift = 20;
  if (suffix == "G") shift = 30;
  if (error != std::errc() || shift < 0 || value < 1 || value > std::int64_t{1} << 40 >> shift)
    throw InputError(fmt::format("'{}' is no size: a number of bytes up to 1024G, with K, M or G", text));
  return value << shift;
}

/// "8:64M": from the first to the second, doubling.
std::vector<std::int64_t> parse_sizes(const std::string& text) {
  const auto colon = text.find(':');
  const std::int64_t first = parse_bytes(text.substr(0, colon));
  const std::int64_t last = colon == std::string::npos ? first : parse_bytes(text.substr(colon + 1));
  if (last < first) throw InputError(fmt::format("--sizes {}: the second is less than the first", text));
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

int list_words(const comm::Comm& world, const Arguments& arguments) {
  for (const auto& word : collectives::hybrid2_words(arguments.digits)) {
    if (world.rank() == 0) fmt::print("{}\n", to_string(word));
  }
  return 0;
}

/// "4", "16r" (ring), "8d" (doubling), "8s" (swing).
collectives::Radix parse_radix(const std::string& text) {
  int members = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), members);
  const std::string suffix(end, text.data() + text.size());
  if (error == std::errc() && suffix.empty()) return {members};
  if (error == std::errc() && suffix == "r") return {members, collectives::Exchange::ring};
  if (error == std::errc() && suffix == "d") return {members, collectives::Exchange::doubling};
  if (error == std::errc() && suffix == "s") return {members, collectives::Exchange::swing};
  throw InputError(
      fmt::format("--radices: '{}' is no radix: 4, 4r (a ring), 4d (doubling) or 4s (swing)", text));
}

collectives::WordPlan plan_to_show(const Arguments& arguments, collectives::Operation operation,
                                   const collectives::Word& word, DigitOrder order) {
  if (arguments.group < 1 || arguments.group > arguments.ranks)
    throw InputError(fmt::format("--group {}: from 1 to {} ranks", arguments.group, arguments.ranks));
  std::vector<int> groups;
  for (int position = 0; arguments.group > 1 && position < arguments.ranks; position += arguments.group)
    groups.push_back(position);
  std::vector<collectives::Radix> radices;
  for (const auto& text : arguments.radices) radices.push_back(parse_radix(text));
  const int leaders = groups.empty() ? arguments.ranks : static_cast<int>(groups.size());
  if (radices.empty()) {
    if (!std::has_single_bit(static_cast<unsigned>(leaders)))
      throw InputError(fmt::format("{} ranks: binary digits are for powers of two; see --radices", leaders));
    radices.assign(std::countr_zero(static_cast<unsigned>(leaders)), {2});
  }
  auto plan = make_plan(operation, arguments.ranks, word, order, radices, arguments.root, groups);
  plan.segmentation.segments = arguments.segments;
  plan.stripes = arguments.stripes;
  check_plan(plan);
  return plan;
}

int show(const comm::Comm& world, const Arguments& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    const auto operation = collectives::operation(arguments.operation);
    const bool has_words = collectives::type_of(operation).has_words;
    if (has_words == arguments.word.empty())
      throw InputError(has_words ? "--word is missing: MMSS, for example"
                                 : "--word: this collective has no words");
    if (arguments.ranks < 1 || arguments.ranks > 256)
      throw InputError(fmt::format("--ranks {}: pictures are for 1 to 256 ranks", arguments.ranks));
    const auto word = has_words ? collectives::parse_word(arguments.word) : collectives::Word();
    const auto order = digit_order(arguments.order);
    const auto plan = plan_to_show(arguments, operation, word, order);
    const auto schedule = expand(plan);
    const std::string title = fmt::format("{} on {} ranks: {}, {}", collectives::type_of(operation).name,
                                          arguments.ranks, describe(plan), arguments.order);
    fmt::print("{}: {} stages, {} chunks\n{}", title, schedule.stages, schedule.chunks, draw_text(schedule));
    const auto violation = find_violation(schedule);
    fmt::print("validated: {}\n",
               violation ? *violation
               : !collectives::type_of(operation).reduces || reduction_order(schedule).keeps_ranks
                   ? "correct"
                   : "correct for operators that commute");
    if (!arguments.svg.empty()) write_file(arguments.svg, draw_svg(schedule, title));
  });
  return 0;
}

nlohmann::ordered_json json_of(const collectives::Candidate& candidate) {
  return {{"plan", json_of(candidate.plan)},
          {"seconds", candidate.seconds},
          {"replayed_seconds", candidate.replayed_seconds}};
}

/// As long as the terminal shows it.
std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

int search(const comm::Comm& world, const Arguments& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    const auto operation = collectives::operation(arguments.operation);
    const auto sizes = parse_sizes(arguments.sizes);
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
    nlohmann::ordered_json json{{"schema", schedules_schema},
                                {"operation", collectives::type_of(operation).name},
                                {"ranks", arguments.ranks},
                                {"profile", arguments.profile},
                                {"best", nlohmann::ordered_json::array()}};
    for (const auto& choice : choices) {
      auto best = json_of(choice.best());
      best["bytes"] = choice.bytes;
      best["text"] = describe(choice.best().plan);
      best["binomial_seconds"] = choice.binomial_seconds;
      best["rabenseifner_seconds"] = choice.rabenseifner_seconds;
      best["finalists"] = nlohmann::ordered_json::array();
      for (const auto& candidate : choice.finalists) best["finalists"].push_back(json_of(candidate));
      json["best"].push_back(std::move(best));
    }
    write_file(arguments.json, json.dump(1) + "\n");
  });
  return 0;
}

struct Cases {
  std::vector<bench::CollectiveCase> cases;
  std::vector<int> finalist;  ///< which of its size a case is
};

/// What search() or tune() has written: the best for every size, or all finalists.
Cases load_cases(const std::string& path, bool all_finalists) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  try {
    const auto json = nlohmann::json::parse(file);
    auto all = nlohmann::json::array();
    for (const auto& search : json.is_array() ? json : nlohmann::json::array({json})) {
      if (search.at("schema") != schedules_schema)
        throw InputError("not what `collectives search --json` or `tune` writes");
      for (const auto& best : search.at("best")) all.push_back(best);
    }
    Cases cases;
    for (const auto& best : all) {
      if (best.at("plan").is_null()) continue;
      const auto add = [&](const nlohmann::json& candidate, int number) {
        cases.cases.push_back({best.at("bytes"), collectives::plan_of(candidate.at("plan"))});
        cases.finalist.push_back(number);
      };
      if (!all_finalists) {
        add(best, 0);
        continue;
      }
      int number = 0;
      for (const auto& candidate : best.at("finalists")) add(candidate, number++);
    }
    return cases;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

int run_bench(const comm::Comm& world, const Arguments& arguments) {
  const auto [cases, finalist] = comm::agree(world, [&] {
    if (!(arguments.timing.seconds > 0))
      throw InputError(fmt::format("--seconds {}: not a number of seconds", arguments.timing.seconds));
    return load_cases(arguments.schedules, arguments.all_finalists);
  });
  auto options = arguments.timing;
  options.mpi = arguments.side != "ours";
  options.ours = arguments.side != "mpi";
  const auto timings = time_collectives(world, cases, options);
  if (world.rank() != 0) return 0;
  nlohmann::ordered_json json{{"schema", "ayatori.bench-collectives/2"},
                              {"mpi", comm::mpi_version()},
                              {"ranks", world.size()},
                              {"timings", nlohmann::ordered_json::array()}};
  fmt::print(stderr, "{:<14}{:>11}  {:<40}{:>14}{:>14}{:>8}\n", "collective", "bytes", "schedule", "MPI, us",
             "ours, us", "ratio");
  const bool is_race = options.mpi && options.ours;
  double logarithms = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [mpi, ours] = timings[i];
    const auto name = collectives::type_of(cases[i].plan.operation).name;
    fmt::print(stderr, "{:<14}{:>11}  {:<40}", name, cases[i].bytes, shortened(describe(cases[i].plan), 39));
    nlohmann::ordered_json timing{{"operation", name},
                                  {"bytes", cases[i].bytes},
                                  {"finalist", finalist[i]},
                                  {"text", describe(cases[i].plan)}};
    for (const auto& [key, side, is_timed] :
         {std::tuple("mpi_seconds", &mpi, options.mpi), {"schedule_seconds", &ours, options.ours}}) {
      fmt::print(stderr, "{:>14}", is_timed ? fmt::format("{:.2f}", 1e6 * side->median) : "-");
      if (is_timed) timing[key] = {{"median", side->median}, {"low", side->low}, {"high", side->high}};
    }
    if (is_race) {
      fmt::print(stderr, "{:>8.2f}", mpi.median / ours.median);
      logarithms += std::log(mpi.median / ours.median);
    }
    fmt::print(stderr, "\n");
    json["timings"].push_back(std::move(timing));
  }
  if (is_race)
    fmt::print(stderr, "geometric mean of MPI/ours: {:.2f}; all results are the MPI's\n",
               std::exp(logarithms / static_cast<double>(std::max<std::size_t>(cases.size(), 1))));
  if (!arguments.json.empty()) write_file(arguments.json, json.dump(2) + "\n");
  return 0;
}

/// The operations of these names, or all. Throws InputError.
std::vector<collectives::Operation> operations_of(const std::vector<std::string>& names) {
  std::vector<collectives::Operation> operations;
  for (const auto& name : names) operations.push_back(collectives::operation(name));
  if (names.empty()) {
    for (const auto& type : collectives::operations()) operations.push_back(type.operation);
  }
  return operations;
}

/// Collective. The profile to tune by: one that knows all ranks of this job.
std::shared_ptr<const machine::Profile> profile_to_tune_by(const comm::Comm& world, const std::string& word) {
  auto [profile, description] = find_profile(world, word);
  if (word == "none") throw InputError("--profile none: tuning goes by the machine's profile");
  if (profile == nullptr || (word == "auto" && profile->ranks < world.size())) {
    profile = std::make_shared<const machine::Profile>(
        machine::measure(world, {.quick = true, .seconds = quick_seconds}));
    description = "measured just now";
  }
  if (world.rank() == 0) fmt::print(stderr, "machine: {}\n", description);
  return profile;
}

nlohmann::ordered_json json_of(const machine::Estimate& seconds) {
  return {{"median", seconds.median}, {"low", seconds.low}, {"high", seconds.high}};
}

int tune(const comm::Comm& world, const Arguments& arguments) {
  const auto operations = comm::agree(world, [&] { return operations_of(arguments.operations); });
  const auto sizes = comm::agree(world, [&] { return parse_sizes(arguments.tuned_sizes); });
  bench::TuneOptions options;
  options.seconds = arguments.tuning_seconds;
  const auto profile = profile_to_tune_by(world, arguments.tuned_profile);
  const auto tuned = bench::tune_collectives(world, *profile, operations, sizes, options);
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    auto table = nlohmann::ordered_json::array();
    fmt::print(stderr, "{:<14}{:>11}  {:<40}{:>14}{:>14}{:>8}\n", "collective", "bytes", "best", "MPI, us",
               "ours, us", "ratio");
    for (const auto& [operation, of_sizes] : tuned) {
      const auto name = collectives::type_of(operation).name;
      auto best = nlohmann::ordered_json::array();
      for (const auto& size : of_sizes) {
        const std::string text = size.plan ? describe(*size.plan) : "the MPI's own";
        fmt::print(stderr, "{:<14}{:>11}  {:<40}{:>14.2f}{:>14.2f}{:>8.2f}\n", name, size.bytes,
                   shortened(text, 39), 1e6 * size.mpi.median, 1e6 * size.ours.median,
                   size.mpi.median / size.ours.median);
        best.push_back({{"bytes", size.bytes},
                        {"plan", size.plan ? json_of(*size.plan) : nlohmann::ordered_json()},
                        {"mpi_seconds", json_of(size.mpi)},
                        {"schedule_seconds", json_of(size.ours)}});
      }
      table.push_back({{"schema", schedules_schema},
                       {"operation", name},
                       {"ranks", world.size()},
                       {"mpi", comm::mpi_version()},
                       {"best", best}});
    }
    write_file(arguments.table, table.dump(1) + "\n");
  });
  return 0;
}

}  // namespace

void add_collectives(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  auto* command =
      app.add_subcommand("collectives", "Collective operations as data: words, schedules, search");
  command->require_subcommand(1);
  const auto does = [&run, arguments](CLI::App* part, int (*what)(const comm::Comm&, const Arguments&)) {
    part->callback([&run, arguments, what] {
      run = [arguments, what](const comm::Comm& world) { return what(world, *arguments); };
    });
  };

  auto* words = command->add_subcommand("words", "List the Hybrid2 words over Copy, Split and Merge");
  words->add_option("--digits", arguments->digits, "For 2^digits ranks")->capture_default_str();
  does(words, list_words);

  auto* drawing = command->add_subcommand("show", "Draw a schedule round by round, and validate it");
  drawing->add_option("operation", arguments->operation, "broadcast, reduce, allreduce, gather, ...")
      ->required();
  drawing->add_option("--word", arguments->word, "Such as MMSCCS; for broadcast, reduce and allreduce");
  drawing->add_option("--ranks", arguments->ranks, "Without --radices a power of two")->capture_default_str();
  drawing
      ->add_option("--radices", arguments->radices,
                   "Of the digits, the nearest first: 2,3 for 6 ranks; 3r goes round a ring, 3d by doubling, "
                   "4s swings "
                   "(default: 2)")
      ->delimiter(',');
  drawing
      ->add_option("--stripes", arguments->stripes,
                   "Parts of the buffer that go through the digits in different orders")
      ->capture_default_str();
  drawing
      ->add_option("--segments", arguments->segments,
                   "Parts of the buffer that follow each other, a stage apart")
      ->capture_default_str();
  drawing->add_option("--group", arguments->group, "Ranks in a row that leave the word to the first of them")
      ->capture_default_str();
  drawing->add_option("--order", arguments->order, "Of digits: NFFL or FFNL")->capture_default_str();
  drawing->add_option("--root", arguments->root, "Of broadcast, reduce, gather, scatter")
      ->capture_default_str();
  drawing->add_option("--svg", arguments->svg, "Write the picture here");
  does(drawing, show);

  auto* racing =
      command->add_subcommand("bench", "Time schedules against the MPI's own operation, in this job");
  racing->add_option("--schedules,--table", arguments->schedules, "What search --json or tune has written")
      ->required();
  racing->add_flag("--finalists", arguments->all_finalists,
                   "All that the search has replayed, not the best only");
  racing->add_option("--seconds", arguments->timing.seconds, "For all together, about")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  racing
      ->add_option("--calls", arguments->timing.calls, "So many of each instead, for simulators (default: 0)")
      ->check(CLI::Range(0, 1000));
  racing->add_option("--side", arguments->side, "both, mpi or ours: what is timed")
      ->check(CLI::IsMember({"both", "mpi", "ours"}))
      ->capture_default_str();
  racing->add_option("--json", arguments->json, "Write the result here (schema ayatori.bench-collectives/2)");
  does(racing, run_bench);

  auto* tuning =
      command->add_subcommand("tune", "Race schedules against the MPI's own operations, and keep what wins");
  tuning->add_option("--output,-o", arguments->table, "The table (schema ayatori.collective-schedules/1)")
      ->required();
  tuning->add_option("--operations", arguments->operations, "Default: all")->delimiter(',');
  tuning->add_option("--sizes", arguments->tuned_sizes, "Bytes of the buffer, from:to, doubling")
      ->capture_default_str();
  tuning
      ->add_option("--profile", arguments->tuned_profile, "auto, a file, or the name of a published machine")
      ->capture_default_str();
  tuning->add_option("--seconds", arguments->tuning_seconds, "Of races, about")
      ->check(CLI::Range(0.1, 36000.0))
      ->capture_default_str();
  does(tuning, tune);

  auto* finding = command->add_subcommand("search", "Find the best word for every size on a machine");
  finding->add_option("operation", arguments->operation, "broadcast, reduce, allreduce, gather, ...")
      ->required();
  finding
      ->add_option("--profile", arguments->profile, "Of the machine: a file, or the name of a published one")
      ->required();
  auto& limits = arguments->limits;
  finding->add_option("--ranks", arguments->ranks, "Of the job")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  finding->add_option("--most-radix", limits.most_radix, "One more than the partners at once")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  finding->add_option("--most-segments", limits.most_segments, "That a pipeline cuts the buffer into")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  finding
      ->add_option("--finalists", limits.finalists, "That are replayed for every size; 0: the model decides")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  finding->add_flag(
      "--words-only", limits.words_only,
      "Neither rings, circulant graphs, leaders nor segments; with --most-radix 2 the paper's search");
  finding->add_flag("--keep-order", limits.keeps_order, "Right for operators that do not commute");
  finding->add_flag("--reproducible", limits.reproducible,
                    "The same bits for every size, wherever it is cut");
  finding->add_option("--sizes", arguments->sizes, "Bytes of the buffer, from:to, doubling")
      ->capture_default_str();
  finding->add_option("--json", arguments->json,
                      "Write the result here (schema ayatori.collective-schedules/1)");
  does(finding, search);
}

}  // namespace ayatori::cli
