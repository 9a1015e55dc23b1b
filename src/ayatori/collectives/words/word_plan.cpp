#include "ayatori/collectives/words/word_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

std::string_view name_of(DigitOrder order) {
  return order == DigitOrder::far_first ? "FFNL" : "NFFL";
}

std::string_view name_of(SingleCopy messages) {
  switch (messages) {
    case SingleCopy::moved:
      return "moved";
    case SingleCopy::all:
      return "all";
    case SingleCopy::none:
      break;
  }
  return "none";
}

SingleCopy single_copy(std::string_view name) {
  for (const auto messages : {SingleCopy::none, SingleCopy::moved, SingleCopy::all}) {
    if (name == name_of(messages)) return messages;
  }
  throw InputError(fmt::format("'{}' is no single copy: none, moved or all", name));
}

bool can_copy(Operation operation, Exchange exchange) {
  return operation != Operation::allreduce || can_combine(exchange);
}

WordPlan stripe_of(const WordPlan& plan, int stripe) {
  WordPlan one = plan;
  one.stripes = 1;
  one.rails = 1;
  if (!one.digits.empty())
    std::ranges::rotate(one.digits, one.digits.begin() + stripe % std::ssize(one.digits));
  return one;
}

std::vector<std::size_t> digits_by_letter(const WordPlan& plan) {
  std::vector<std::size_t> digits;
  std::vector<std::size_t> open;
  std::size_t next = 0;
  for (const Letter letter : plan.word) {
    if (letter == Letter::merge) {
      digits.push_back(open.back());
      open.pop_back();
      continue;
    }
    digits.push_back(next++);
    if (letter == Letter::split) open.push_back(digits.back());
  }
  return digits;
}

void check_plan(const WordPlan& plan) {
  const auto& type = type_of(plan.operation);
  if (type.schedule != type.operation)
    throw InputError(fmt::format("{} is done by schedules for {}", type.name, type_of(type.schedule).name));
  if (plan.ranks < 1) throw InputError(fmt::format("{} ranks: at least one is needed", plan.ranks));
  if (plan.root < 0 || plan.root >= plan.ranks)
    throw InputError(fmt::format("root {} is none of {} ranks", plan.root, plan.ranks));
  const int leaders = plan.groups.empty() ? plan.ranks : static_cast<int>(plan.groups.size());
  auto digits = plan.digits;
  std::ranges::sort(digits, {}, &Digit::stride);
  std::int64_t stride = 1;
  for (const Digit& digit : digits) {
    if (digit.radix < 2 || digit.stride != stride || stride * digit.radix > leaders)
      throw InputError(fmt::format("the radices do not multiply to {} ranks", leaders));
    if (!can_exchange(digit.exchange, digit.radix))
      throw InputError(
          fmt::format("{} members cannot {}: powers of two can", digit.radix, name_of(digit.exchange)));
    stride *= digit.radix;
  }
  if (stride != leaders) throw InputError(fmt::format("the radices do not multiply to {} ranks", leaders));
  if (type.has_words && digits_of(plan.word) != std::ssize(digits))
    throw InputError(fmt::format("the word '{}' has {} digits (its C and S), but {} ranks have {} here",
                                 to_string(plan.word), digits_of(plan.word), leaders, digits.size()));
  if (!type.has_words && !plan.word.empty()) throw InputError(fmt::format("{} has no words", type.name));
  if (plan.operation == Operation::alltoall) {
    // Swapped blocks take each other's places, which only the ranks' own numbers keep in one order.
    if (!plan.groups.empty() || !plan.order.empty())
      throw InputError("alltoall is done by all ranks in their own order, not by leaders of groups");
    for (const Digit& digit : plan.digits) {
      if (!can_pair(digit.exchange)) throw InputError("alltoall is done directly or in pairs (ring)");
    }
  }
  constexpr int most_segments = 1 << 16;
  if (plan.segmentation.segments < 1 || plan.segmentation.segments > most_segments ||
      (plan.segmentation.segments > 1 && !type.has_words))
    throw InputError(fmt::format("{} segments: 1 to {}, and 1 where blocks are of ranks",
                                 plan.segmentation.segments, most_segments));
  constexpr int most_under_way = 64;
  if (plan.segmentation.under_way < 1 || plan.segmentation.under_way > most_under_way)
    throw InputError(
        fmt::format("{} segments under way: 1 to {}", plan.segmentation.under_way, most_under_way));
  if (!plan.order.empty()) {
    auto order = plan.order;
    std::ranges::sort(order);
    for (int rank = 0; rank < plan.ranks; ++rank) {
      if (std::ssize(order) != plan.ranks || order[rank] != rank)
        throw InputError(fmt::format("the order does not name each of {} ranks once", plan.ranks));
    }
  }
  const int most_stripes = type.has_words ? 2 * std::max(static_cast<int>(digits.size()), 1) : 1;
  if (plan.stripes < 1 || plan.stripes > most_stripes)
    throw InputError(
        fmt::format("{} stripes: 1 to {}, two for every digit of a word", plan.stripes, most_stripes));
  if (plan.rails < 1 || plan.rails > plan.stripes)
    throw InputError(
        fmt::format("{} rails: 1 to {}, no more than there are stripes", plan.rails, plan.stripes));
  for (int stripe = 0; stripe < plan.stripes; ++stripe) {
    const WordPlan one = stripe_of(plan, stripe);
    const auto places = digits_by_letter(one);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Exchange exchange = one.digits[places[i]].exchange;
      if (one.word[i] == Letter::copy && !can_copy(one.operation, exchange))
        throw InputError(
            fmt::format("a {} splits and merges, it does not combine copies", name_of(exchange)));
    }
  }
  if (plan.fold == Exchange::swing) throw InputError("groups fold directly, along a ring or by doubling");
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const bool is_right =
        g == 0 ? plan.groups[g] == 0 : plan.groups[g] > plan.groups[g - 1] && plan.groups[g] < plan.ranks;
    if (!is_right)
      throw InputError(fmt::format("groups do not begin at ascending positions of {}", plan.ranks));
  }
}

WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order,
                   std::span<const Radix> radices, int root, std::vector<int> groups) {
  WordPlan plan{type_of(operation).schedule,
                ranks,
                root,
                type_of(operation).has_words ? word : Word(),
                {},
                {},
                std::move(groups)};
  std::int64_t stride = 1;
  for (const Radix& radix : radices) {
    if (radix.members < 2 || stride * radix.members > ranks)
      throw InputError(fmt::format("the radices do not multiply to {} ranks", ranks));
    plan.digits.push_back({static_cast<int>(stride), radix.members, radix.exchange});
    stride *= radix.members;
  }
  if (order == DigitOrder::far_first) std::ranges::reverse(plan.digits);
  check_plan(plan);
  return plan;
}

WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order,
                   std::span<const int> radices, int root) {
  std::vector<Radix> direct;
  for (const int members : radices) direct.push_back({members});
  return make_plan(operation, ranks, word, order, direct, root);
}

WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order, int root) {
  if (ranks < 1 || !std::has_single_bit(static_cast<unsigned>(ranks)))
    throw InputError(fmt::format("{} ranks: binary digits are for powers of two", ranks));
  const std::vector<int> radices(std::countr_zero(static_cast<unsigned>(ranks)), 2);
  return make_plan(operation, ranks, word, order, radices, root);
}

std::string describe(const WordPlan& plan) {
  std::string digits;
  for (const Digit& digit : plan.digits) {
    digits += fmt::format("{}{}", digits.empty() ? "" : ", ", digit.radix);
    const bool is_direct = digit.exchange == Exchange::direct;
    if (!is_direct || digit.stride > 1)
      digits +=
          fmt::format(" ({}{}{})", digit.stride > 1 ? fmt::format("stride {}", digit.stride) : "",
                      digit.stride > 1 && !is_direct ? ", " : "", is_direct ? "" : name_of(digit.exchange));
  }
  std::string text = to_string(plan.word);
  if (!digits.empty()) text += fmt::format("{}of {}", text.empty() ? "" : " ", digits);
  if (!plan.groups.empty()) text += fmt::format("; {} leaders ({})", plan.groups.size(), name_of(plan.fold));
  if (plan.stripes > 1) text += fmt::format("; {} stripes", plan.stripes);
  if (plan.rails > 1) text += fmt::format(" on {} rails", plan.rails);
  if (plan.segmentation.segments > 1)
    text +=
        fmt::format("; {} segments, {} under way", plan.segmentation.segments, plan.segmentation.under_way);
  if (plan.single_copy != SingleCopy::none)
    text += fmt::format("{}single copy{}", text.empty() ? "" : "; ",
                        plan.single_copy == SingleCopy::moved ? " of what is moved" : "");
  return text;
}

}  // namespace ayatori::collectives
