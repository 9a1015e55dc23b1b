#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/draw.hpp"
#include "ayatori/collectives/validate.hpp"
#include "ayatori/collectives/word_search.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/environment.hpp"
#include "bench/collectives.hpp"
#include "cli/command.hpp"

namespace ayatori::cli {

namespace {

using collectives::DigitOrder;

struct Arguments {
  std::string operation;
  std::string word;
  std::string order = "NFFL";
  std::string svg;
  std::string json;
  std::string profile;
  std::string sizes = "8:64M";
  std::vector<int> radices;
  int most_radix = 16;
  std::string schedules;
  double seconds = 10;
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
    const auto plan = arguments.radices.empty()
                          ? collectives::make_plan(operation, arguments.ranks, word, order, arguments.root)
                          : collectives::make_plan(operation, arguments.ranks, word, order, arguments.radices,
                                                   arguments.root);
    const auto schedule = expand(plan);
    const std::string title =
        fmt::format("{}{}{} on {} ranks, {}", collectives::type_of(operation).name, has_words ? " " : "",
                    to_string(word), arguments.ranks, arguments.order);
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

nlohmann::ordered_json json_of(const collectives::WordChoice& choice) {
  return {{"bytes", choice.bytes},
          {"word", to_string(choice.word)},
          {"order", collectives::name_of(choice.order)},
          {"radices", choice.radices},
          {"seconds", choice.seconds},
          {"binomial_seconds", choice.binomial_seconds},
          {"rabenseifner_seconds", choice.rabenseifner_seconds}};
}

int search(const comm::Comm& world, const Arguments& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    const auto operation = collectives::operation(arguments.operation);
    const auto sizes = parse_sizes(arguments.sizes);
    const auto profile = machine::load_profile(arguments.profile);
    const auto best = search_words(operation, arguments.ranks, profile, sizes, arguments.most_radix);
    fmt::print("{} on {} ranks of {}; predicted microseconds\n{:>11}  {:<18}{:<6}{:<16}{:>11}",
               collectives::type_of(operation).name, arguments.ranks, profile.node.hostname, "bytes", "word",
               "order", "radices", "best");
    fmt::print("{}\n", best.front().binomial_seconds > 0
                           ? fmt::format("{:>11}{:>8}{:>11}{:>8}", "binomial", "ratio", "all S, M", "ratio")
                           : "");
    for (const auto& choice : best) {
      fmt::print("{:>11}  {:<18}{:<6}{:<16}{:>11.2f}", choice.bytes, to_string(choice.word),
                 collectives::name_of(choice.order), fmt::format("{}", fmt::join(choice.radices, ",")),
                 1e6 * choice.seconds);
      if (choice.binomial_seconds > 0)
        fmt::print("{:>11.2f}{:>8.2f}{:>11.2f}{:>8.2f}", 1e6 * choice.binomial_seconds,
                   choice.binomial_seconds / choice.seconds, 1e6 * choice.rabenseifner_seconds,
                   choice.rabenseifner_seconds / choice.seconds);
      fmt::print("\n");
    }
    if (arguments.json.empty()) return;
    nlohmann::ordered_json json{{"schema", "ayatori.collective-words/1"},
                                {"operation", collectives::type_of(operation).name},
                                {"ranks", arguments.ranks},
                                {"profile", arguments.profile},
                                {"best", nlohmann::ordered_json::array()}};
    for (const auto& choice : best) json["best"].push_back(json_of(choice));
    write_file(arguments.json, json.dump(2) + "\n");
  });
  return 0;
}

/// What search() has written.
std::vector<bench::CollectiveCase> load_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  try {
    const auto json = nlohmann::json::parse(file);
    if (json.at("schema") != "ayatori.collective-words/1")
      throw InputError(fmt::format("{}: not what `collectives search --json` writes", path));
    const auto operation = collectives::operation(json.at("operation").get<std::string>());
    const bool has_words = collectives::type_of(operation).has_words;
    std::vector<bench::CollectiveCase> cases;
    for (const auto& best : json.at("best")) {
      const auto word =
          has_words ? collectives::parse_word(best.at("word").get<std::string>()) : collectives::Word();
      const auto order = digit_order(best.at("order").get<std::string>());
      const auto radices = best.at("radices").get<std::vector<int>>();
      cases.push_back({best.at("bytes"), make_plan(operation, json.at("ranks"), word, order, radices)});
    }
    return cases;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

int run_bench(const comm::Comm& world, const Arguments& arguments) {
  const auto cases = comm::agree(world, [&] {
    if (!(arguments.seconds > 0))
      throw InputError(fmt::format("--seconds {}: not a number of seconds", arguments.seconds));
    return load_cases(arguments.schedules);
  });
  const auto timings = time_collectives(world, cases, arguments.seconds);
  if (world.rank() != 0) return 0;
  nlohmann::ordered_json json{{"schema", "ayatori.bench-collectives/1"},
                              {"mpi", comm::mpi_version()},
                              {"ranks", world.size()},
                              {"timings", nlohmann::ordered_json::array()}};
  fmt::print(stderr, "{:<14}{:>11}  {:<18}{:>14}{:>14}{:>11}\n", "collective", "bytes", "word", "MPI, us",
             "word, us", "MPI/word");
  double logarithms = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [mpi, ours] = timings[i];
    const auto name = collectives::type_of(cases[i].plan.operation).name;
    fmt::print(stderr, "{:<14}{:>11}  {:<18}{:>14.2f}{:>14.2f}{:>11.2f}\n", name, cases[i].bytes,
               to_string(cases[i].plan.word), 1e6 * mpi.median, 1e6 * ours.median, mpi.median / ours.median);
    logarithms += std::log(mpi.median / ours.median);
    json["timings"].push_back(
        {{"operation", name},
         {"bytes", cases[i].bytes},
         {"word", to_string(cases[i].plan.word)},
         {"mpi_seconds", {{"median", mpi.median}, {"low", mpi.low}, {"high", mpi.high}}},
         {"word_seconds", {{"median", ours.median}, {"low", ours.low}, {"high", ours.high}}}});
  }
  fmt::print(stderr, "geometric mean of MPI/word: {:.2f}; all results are the MPI's\n",
             std::exp(logarithms / static_cast<double>(std::max<std::size_t>(cases.size(), 1))));
  if (!arguments.json.empty()) write_file(arguments.json, json.dump(2) + "\n");
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
                   "Of the digits, the nearest first: 2,3 for 6 ranks (default: 2)")
      ->delimiter(',');
  drawing->add_option("--order", arguments->order, "Of digits: NFFL or FFNL")->capture_default_str();
  drawing->add_option("--root", arguments->root, "Of broadcast, reduce, gather, scatter")
      ->capture_default_str();
  drawing->add_option("--svg", arguments->svg, "Write the picture here");
  does(drawing, show);

  auto* racing =
      command->add_subcommand("bench", "Time schedules against the MPI's own operation, in this job");
  racing->add_option("--schedules", arguments->schedules, "What search --json has written")->required();
  racing->add_option("--seconds", arguments->seconds, "For all together, about")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  racing->add_option("--json", arguments->json, "Write the result here (schema ayatori.bench-collectives/1)");
  does(racing, run_bench);

  auto* finding = command->add_subcommand("search", "Find the best word for every size on a machine");
  finding->add_option("operation", arguments->operation, "broadcast, reduce, allreduce, gather, ...")
      ->required();
  finding
      ->add_option("--profile", arguments->profile, "Of the machine: a file, or the name of a published one")
      ->required();
  finding->add_option("--ranks", arguments->ranks, "Whose prime factors are small")->capture_default_str();
  finding
      ->add_option("--most-radix", arguments->most_radix,
                   "One more than the partners at once; 2: as in the paper")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  finding->add_option("--sizes", arguments->sizes, "Bytes of the buffer, from:to, doubling")
      ->capture_default_str();
  finding->add_option("--json", arguments->json, "Write the result here (schema ayatori.collective-words/1)");
  does(finding, search);
}

}  // namespace ayatori::cli
