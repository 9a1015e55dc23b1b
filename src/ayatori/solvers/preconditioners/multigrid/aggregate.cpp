#include "ayatori/solvers/preconditioners/multigrid/aggregate.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ayatori/base/parallel.hpp"

namespace ayatori::solvers::amg {

namespace {

/// Rows of a piece that is aggregated on its own: few borders between pieces, and no thread is alone for
/// longer than about a hundred products with them.
constexpr std::int64_t rows_per_piece = 1 << 17;

/// The aggregation of one piece's rows.
class RangeAggregation {
 public:
  RangeAggregation(const CouplingGraph& graph, Range rows, std::span<std::int32_t> of)
      : graph_(graph), rows_(rows), of_(of) {}

  /// Gives the number of aggregates.
  std::int32_t run() {
    hits_.assign(rows_.size(), 0);
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i) of_[i] = open;
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i) start_if_free(i);
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i)
      if (of_[i] == open) join(i);
    for (std::int64_t i = rows_.begin; i < rows_.end; ++i)
      if (of_[i] <= joins) of_[i] = joins - of_[i];
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
    for_each_strong(i, [&](std::int32_t j, std::uint8_t) {
      coupled = true;
      if (rows_.contains(j) && of_[j] != open) free = false;
    });
    if (!coupled) of_[i] = Aggregates::none;
    if (coupled && free) {
      collect(i);
      if (!has_triangle(i)) round_off();
    }
  }

  void collect(std::int64_t i) {
    members_.assign(1, static_cast<std::int32_t>(i));
    of_[i] = count_;
    for_each_strong(i, [&](std::int32_t j, std::uint8_t) {
      if (rows_.contains(j) && of_[j] == open) add(j);
    });
    ++count_;
  }

  void add(std::int32_t j) {
    of_[j] = members_.empty() ? count_ : of_[members_.front()];
    members_.push_back(j);
  }

  /// Whether two neighbours of the aggregate's first node are coupled with each other.
  bool has_triangle(std::int64_t root) const {
    bool found = false;
    for_each_strong(root, [&](std::int32_t j, std::uint8_t) {
      if (found || !rows_.contains(j)) return;
      for_each_strong(j, [&](std::int32_t k, std::uint8_t) {
        found = found || (k != root && rows_.contains(k) && of_[k] == of_[root]);
      });
    });
    return found;
  }

  /// Makes a ball of a star, which is all that a neighbourhood is in a graph without triangles, such as that
  /// of a 5- or 7-point stencil: adds nodes coupled with two of its points, then nodes coupled with three of
  /// these.
  void round_off() {
    std::size_t begin = 1;
    for (const int couplings : {2, 3}) {
      const std::size_t end = members_.size();
      touched_.clear();
      for (std::size_t m = begin; m < end; ++m) {
        for_each_strong(members_[m], [&](std::int32_t j, std::uint8_t) {
          if (!rows_.contains(j) || of_[j] != open) return;
          if (hits_[j - rows_.begin]++ == 0) touched_.push_back(j);
        });
      }
      for (const std::int32_t j : touched_) {
        if (hits_[j - rows_.begin] >= couplings) add(j);
        hits_[j - rows_.begin] = 0;
      }
      begin = end;
    }
  }

  void join(std::int64_t i) {
    std::uint8_t strongest = 0;
    std::int32_t to = open;
    for_each_strong(i, [&](std::int32_t j, std::uint8_t strength) {
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
  std::vector<std::int32_t> members_;  ///< members of the newest aggregate, its first node first
  std::vector<std::int32_t> touched_;
  std::vector<std::uint8_t> hits_;  ///< couplings of an open node with members, while they are counted
};

}  // namespace

Aggregates aggregate(const CouplingGraph& graph) {
  Aggregates result{0, Array<std::int32_t>(graph.rows)};
  const auto parts =
      static_cast<int>(std::max<std::int64_t>((graph.rows + rows_per_piece - 1) / rows_per_piece, 1));
  std::vector<std::int32_t> counts(parts);
  const int threads = std::min(parts, max_threads());
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
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
