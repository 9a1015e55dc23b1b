#include "bench/collectives/guidelines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <string_view>

namespace ayatori::bench {

namespace {

using collectives::Digit;
using collectives::Exchange;
using collectives::Operation;
using collectives::WordPlan;

/// Splits over all digits, then merges.
WordPlan split_and_merge(Operation operation, int ranks, std::vector<Digit> digits) {
  WordPlan plan;
  plan.operation = operation;
  plan.ranks = ranks;
  plan.word = collectives::parse_word(std::string(digits.size(), 'M') + std::string(digits.size(), 'S'));
  plan.digits = std::move(digits);
  return plan;
}

}  // namespace

std::string Guideline::text() const {
  std::vector<std::string_view> names;
  std::ranges::transform(parts, std::back_inserter(names),
                         [](Operation part) { return collectives::type_of(part).name; });
  return fmt::format("{} <= {}", collectives::type_of(operation).name, fmt::join(names, " + "));
}

std::span<const Guideline> guidelines() {
  using enum Operation;
  static const std::array list{Guideline{broadcast, {scatter, allgather}},
                               Guideline{reduce, {reduce_scatter, gather}},
                               Guideline{reduce, {allreduce}},
                               Guideline{allreduce, {reduce_scatter, allgather}},
                               Guideline{allreduce, {reduce, broadcast}},
                               Guideline{gather, {allgather}},
                               Guideline{scatter, {broadcast}},
                               Guideline{allgather, {gather, broadcast}},
                               Guideline{allgather, {alltoall}},
                               Guideline{reduce_scatter, {reduce, scatter}},
                               Guideline{reduce_scatter, {allreduce}},
                               Guideline{barrier, {allreduce}}};
  return list;
}

std::vector<WordPlan> composed_plans(const Guideline& guideline, int ranks, const WordPlan* merge) {
  std::vector<WordPlan> plans;
  if (guideline.parts.size() < 2 || ranks < 2) return plans;
  const Operation first = guideline.parts.front();
  if (first != Operation::scatter && first != Operation::reduce_scatter) {
    for (const Exchange fold : {Exchange::direct, Exchange::doubling}) {
      WordPlan& plan = plans.emplace_back();
      plan.operation = guideline.operation;
      plan.ranks = ranks;
      plan.groups = {0};
      plan.fold = fold;
    }
    return plans;
  }
  for (const Exchange exchange : {Exchange::direct, Exchange::ring, Exchange::doubling, Exchange::swing}) {
    if (exchange == Exchange::swing && !std::has_single_bit(static_cast<unsigned>(ranks))) continue;
    plans.push_back(split_and_merge(guideline.operation, ranks, {{1, ranks, exchange}}));
  }
  if (merge != nullptr && merge->groups.empty() && !merge->digits.empty()) {
    plans.push_back(split_and_merge(guideline.operation, ranks, merge->digits));
    plans.back().order = merge->order;
  }
  return plans;
}

}  // namespace ayatori::bench
