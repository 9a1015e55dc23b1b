#include "ayatori/mapping/moving.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::mapping {

namespace {

/// On rank 0.
double moving_seconds(const PartOrder& order, std::span<const std::int64_t> part_bytes,
                      std::span<const int> node_of_rank, const MakeNetwork& make_network,
                      const network::CostModel& model) {
  std::vector<PairVolume> moves;
  for (int part = 0; part < static_cast<int>(part_bytes.size()); ++part)
    moves.push_back({part, order.rank_of_part[part], 1, part_bytes[part]});
  const CommGraph graph(static_cast<int>(part_bytes.size()), moves);
  const auto network = make_network(order.nodes);
  return Evaluation(graph, *network, model, node_of_rank).metrics().seconds;
}

bool could_be_a_mistake(const Metrics& before, const Metrics& after, const network::CostModel& model) {
  if (model.error) return after.seconds > (1 - *model.error) * before.seconds;
  return after.rank_seconds > before.rank_seconds || after.link_seconds > before.link_seconds ||
         after.most_hops > before.most_hops;
}

/// Fills in the verdict.
void decide(const Metrics& before, const Metrics& after, const network::CostModel& model, Moving& moving) {
  if (could_be_a_mistake(before, after, model)) {
    moving.why = model.error ? fmt::format("the saving is less than the {:.1f} % that the costs are wrong by",
                                           100 * *model.error)
                             : "the costs are guessed, and a part of them grows";
    return;
  }
  moving.is_worth_it = moving.pays_after < moving.expected;
  moving.why = fmt::format("moving takes {:.3g} ms, which {:.0f} exchanges save; {:.0f} are expected",
                           1e3 * moving.seconds, std::ceil(moving.pays_after), moving.expected);
}

}  // namespace

double expected_exchanges(std::int64_t unknowns, std::int64_t most) {
  const double expected = std::ceil(std::sqrt(static_cast<double>(unknowns)));
  return most > 0 ? std::min(expected, static_cast<double>(most)) : expected;
}

Moving judge_moving(const comm::Comm& comm, const PartOrder& order, std::int64_t part_bytes, double expected,
                    std::span<const int> node_of_rank, const MakeNetwork& make_network,
                    const network::CostModel& model) {
  if (order.is_kept) return {.expected = expected};
  const auto bytes = comm.gatherv(std::span<const std::int64_t>(&part_bytes, 1), 0).values;
  auto moving = comm::agree(comm, [&] {
    Moving judged{.expected = expected};
    if (comm.rank() != 0) return judged;
    judged.seconds = moving_seconds(order, bytes, node_of_rank, make_network, model);
    const double saved = order.before.seconds - order.after.seconds;
    judged.pays_after = saved > 0 ? judged.seconds / saved : std::numeric_limits<double>::infinity();
    decide(order.before, order.after, model, judged);
    return judged;
  });
  moving.is_worth_it = comm.broadcast(moving.is_worth_it, 0);
  moving.why = comm.broadcast(moving.why, 0);
  moving.seconds = comm.broadcast(moving.seconds, 0);
  moving.pays_after = comm.broadcast(moving.pays_after, 0);
  return moving;
}

}  // namespace ayatori::mapping
