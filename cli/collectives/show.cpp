#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <memory>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/schedules/draw.hpp"
#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "ayatori/comm/agree.hpp"
#include "cli/collectives/collectives.hpp"

namespace ayatori::cli {

namespace {

using collectives::DigitOrder;

struct ShowRequest {
  std::string operation;
  std::string word;
  std::string order = "NFFL";
  std::string svg;
  std::vector<std::string> radices;
  int segments = 1;
  int stripes = 1;
  int rails = 1;
  int group = 1;
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

int list_words(const comm::Comm& world, const ShowRequest& arguments) {
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

collectives::WordPlan plan_to_show(const ShowRequest& arguments, collectives::Operation operation,
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
  plan.rails = arguments.rails;
  check_plan(plan);
  return plan;
}

int show(const comm::Comm& world, const ShowRequest& arguments) {
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

}  // namespace

void add_collectives_words(Command& collectives, Run& run) {
  auto arguments = std::make_shared<ShowRequest>();
  auto* words = collectives.add_subcommand("words", "List the Hybrid2 words over Copy, Split and Merge");
  words->examples({{"ayatori collectives words", "the words for 8 ranks"},
                   {"ayatori collectives words --digits 4", "for 16 ranks"}});
  words->add_option("--digits", arguments->digits, "For 2^digits ranks")->capture_default_str();
  words->callback([&run, arguments] {
    run = [arguments](const comm::Comm& world) { return list_words(world, *arguments); };
  });
}

void add_collectives_show(Command& collectives, Run& run) {
  auto arguments = std::make_shared<ShowRequest>();
  auto* drawing = collectives.add_subcommand("show", "Draw a schedule round by round, and validate it");
  drawing->examples({{"ayatori collectives show bcast --word MMSCCS --ranks 16 --svg bcast.svg",
                      "as text and as a picture"},
                     {"ayatori collectives show allreduce --word MS --ranks 7 --radices 7d",
                      "any number of ranks, by doubling"}});
  add_operation(*drawing, arguments->operation);
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
  drawing->add_option("--rails", arguments->rails, "Ports of a node for which the stripes are meant in turns")
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
  drawing->callback(
      [&run, arguments] { run = [arguments](const comm::Comm& world) { return show(world, *arguments); }; });
}

}  // namespace ayatori::cli
