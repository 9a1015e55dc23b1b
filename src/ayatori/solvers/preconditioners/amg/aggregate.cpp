#include "ayatori/solvers/preconditioners/amg/aggregate.hpp"

#include <vector>

#include "ayatori/base/parallel.hpp"

namespace ayatori::solvers::amg {

namespace {

/// The aggregation of one thread's rows.
class RangeAggregation {
 public:
  RangeAggregation(const CouplingGraph& graph, Range rows, std::span<std::int32_t> of)
      : graph_(graph), rows_(rows), of_(of) {}

  /// Gives the number of aggregates.
  std::int32_t run() {
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i) of_[i] = open;
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i) start_if_free(i);
    const std::int32_t first_joined = count_;
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i)
      if (of_[i] == open) join(i);
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i)
      if (of_[i] <= joins) of_[i] = joins - of_[i];
    static_cast<void>(first_joined);
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i)
      if (of_[i] == open) collect(i);
    return count_;
  }

 private:
  // States of a node that is in no aggregate; joins - a: it will be in a.
  static constexpr std::int32_t open = -2;
  static constexpr std::int32_t joins = -3;

  template <class F>
  void for_each_strong(std::int64_t i, F&& f) const {
    for (std::int64_t k = graph_.row_start[i]; k < graph_.row_start[i + 1]; ++k)
      if (graph_.strength[k] > 0) f(graph_.column[k], graph_.strength[k]);
  }

  void start_if_free(std::int64_t i) {
    if (of_[i] != open) return;
    bool coupled = false;
    bool free = true;
    for_each_strong(i, [&](std::int32_t j, float) {
      coupled = true;
      if (rows_.contains(j) && of_[j] != open) free = false;
    });
    if (!coupled) of_[i] = Aggregates::none;
    if (coupled && free) collect(i);
  }

  void collect(std::int64_t i) {
    of_[i] = count_;
    for_each_strong(i, [&](std::int32_t j, float) {
      if (rows_.contains(j) && of_[j] == open) of_[j] = count_;
    });
    ++count_;
  }

  void join(std::int64_t i) {
    float strongest = 0;
    std::int32_t to = open;
    for_each_strong(i, [&](std::int32_t j, float strength) {
      if (!rows_.contains(j) || of_[j] < 0 || strength <= strongest) return;
      strongest = strength;
      to = joins - of_[j];
    });
    of_[i] = to;
  }

  const CouplingGraph& graph_;
  Range rows_;
  std::span<std::int32_t> of_;
  std::int32_t count_ = 0;
};

}  // namespace

Aggregates aggregate(const CouplingGraph& graph) {
  Aggregates result{0, Array<std::int32_t>(graph.rows)};
  const int parts = threads_for(graph.rows);
  std::vector<std::int32_t> counts(parts);
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int t = 0; t < parts; ++t)
    counts[t] = RangeAggregation(graph, split_evenly(graph.rows, parts, t), result.of).run();
  for (int t = 0; t < parts; ++t) {
    const Range rows = split_evenly(graph.rows, parts, t);
    const std::int32_t first = result.count;
    if (first > 0)
      for (std::int64_t i = rows.begin; i < rows.end; ++i)
        if (result.of[i] >= 0) result.of[i] += first;
    result.count += counts[t];
  }
  return result;
}

}  // namespace ayatori::solvers::amg
