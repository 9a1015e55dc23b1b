#include "bench/collectives/mpi_rules.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace ayatori::bench {

namespace {

using collectives::Operation;

/// Open MPI's number of an operation (COLLTYPE in ompi/mca/coll/base/coll_base_functions.h).
int number_of(Operation operation) {
  switch (operation) {
    case Operation::allgather:
      return 0;
    case Operation::allreduce:
      return 2;
    case Operation::alltoall:
      return 3;
    case Operation::barrier:
      return 6;
    case Operation::broadcast:
      return 7;
    case Operation::gather:
      return 9;
    case Operation::reduce:
      return 11;
    case Operation::reduce_scatter:
      return 13;  // reduce_scatter_block
    case Operation::scatter:
      break;
  }
  return 15;
}

/// "From this many bytes on": algorithm (0: Open MPI's choice), fan-out, segment.
struct Rule {
  std::int64_t from;
  int algorithm;
  int segment_bytes;
};

std::vector<Rule> rules_of(const TunedOperation& tuned) {
  std::vector<Rule> rules{{0, 0, 0}};
  const auto add = [&](std::int64_t from, int algorithm, int segment_bytes) {
    if (rules.back().algorithm == algorithm && rules.back().segment_bytes == segment_bytes) return;
    if (rules.back().from == from) rules.pop_back();
    rules.push_back({from, algorithm, segment_bytes});
  };
  std::int64_t from = 0;
  for (std::size_t i = 0; i < tuned.sizes.size(); ++i) {
    const TunedSize& size = tuned.sizes[i];
    if (size.forced)
      add(from, size.forced->algorithm.number, size.forced->algorithm.segment_bytes);
    else
      add(from, 0, 0);
    const double next = i + 1 < tuned.sizes.size() ? static_cast<double>(tuned.sizes[i + 1].bytes)
                                                   : 4 * static_cast<double>(size.bytes);
    from = std::llround(std::ceil(std::sqrt(static_cast<double>(size.bytes) * next)));
  }
  add(from, 0, 0);
  return rules;
}

}  // namespace

std::string open_mpi_rules(std::span<const TunedOperation> tuned, int ranks) {
  constexpr int fan_out = 4;  // Open MPI's own fan-out of chains, with which they were timed
  std::string text = fmt::format("{} # operations\n", tuned.size());
  for (const TunedOperation& operation : tuned) {
    const auto rules = rules_of(operation);
    // A communicator goes by the largest number of ranks that it has, or else by the first.
    text +=
        fmt::format("{} # {}\n3 # numbers of ranks\n1 # and less than {}\n1\n0 0 0 0\n",
                    number_of(operation.operation), collectives::type_of(operation.operation).name, ranks);
    text +=
        fmt::format("{} # ranks\n{} # sizes: from bytes, algorithm, fan-out, segment\n", ranks, rules.size());
    for (const Rule& rule : rules)
      text += fmt::format("{} {} {} {}\n", rule.from, rule.algorithm, fan_out, rule.segment_bytes);
    text += fmt::format("{} # and more\n1\n0 0 0 0\n", ranks + 1);
  }
  return text;
}

}  // namespace ayatori::bench
