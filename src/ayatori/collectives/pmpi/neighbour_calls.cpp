#include "ayatori/collectives/pmpi/neighbour_calls.hpp"

#include <fmt/format.h>

#include <utility>

#include "ayatori/collectives/pmpi/guarded.hpp"

namespace ayatori::pmpi {

namespace {

/// A communicator's calls from this one on are worth a plan.
constexpr int calls_before_plan = 4;

/// The rule of this process.
NeighbourRule& rule() {
  static NeighbourRule the_rule = NeighbourRule::off;
  return the_rule;
}

std::vector<NeighbourRoute> routes_of(const NeighbourPlan& plan) {
  if (rule() == NeighbourRule::straight) return {NeighbourRoute::straight};
  if (rule() == NeighbourRule::bundled) return {NeighbourRoute::bundled};
  std::vector<NeighbourRoute> routes{NeighbourRoute::by_mpi, NeighbourRoute::straight};
  if (plan.anyone_bundles) routes.push_back(NeighbourRoute::bundled);
  return routes;
}

bool has_topology(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  return topology != MPI_UNDEFINED;
}

/// Null where the MPI does all calls, or the next one.
NeighbourCalls* calls_of(MPI_Comm comm) {
  CommFacts& facts = facts_of(comm);
  if (facts.has_asked_for_neighbours) return facts.neighbours.get();
  if (rule() == NeighbourRule::race && ++facts.neighbour_calls < calls_before_plan) return nullptr;
  facts.has_asked_for_neighbours = true;
  if (!has_topology(comm)) return nullptr;
  CommSchedules* const schedules = schedules_without_table(comm, facts);
  if (schedules != nullptr) facts.neighbours = std::make_shared<NeighbourCalls>(NeighbourCalls{*schedules});
  return facts.neighbours.get();
}

NeighbourCallsOfKind* calls_of(NeighbourKind kind, MPI_Comm comm) {
  NeighbourCalls* const calls = calls_of(comm);
  if (calls == nullptr) return nullptr;
  auto& of_kind = calls->of_kind[static_cast<std::size_t>(kind)];
  if (of_kind == nullptr) {
    NeighbourExchange exchange(kind, comm, calls->schedules);
    NeighbourRace race(routes_of(exchange.plan()));
    of_kind =
        std::make_unique<NeighbourCallsOfKind>(NeighbourCallsOfKind{std::move(exchange), std::move(race)});
  }
  return of_kind.get();
}

/// Blocks that lie one after the other, `count` elements each.
void set_even(std::vector<Buffer>& blocks, int number, const Buffer& all) {
  blocks.clear();
  for (int i = 0; i < number; ++i) blocks.push_back(all.part(all.count, i * all.count));
}

void set_uneven(std::vector<Buffer>& blocks, int number, const Buffer& all, Numbers counts, Numbers places) {
  blocks.clear();
  for (int i = 0; i < number; ++i) blocks.push_back(all.part(counts[i], places[i]));
}

void set_of_types(std::vector<Buffer>& blocks, int number, const void* data, Numbers counts,
                  const MPI_Aint* places, const MPI_Datatype* types) {
  blocks.clear();
  for (int i = 0; i < number; ++i)
    blocks.emplace_back(static_cast<const std::byte*>(data) + places[i], counts[i], types[i]);
}

bool are_types(const Buffer& a, const Buffer& b) {
  return a.layout.is_type && b.layout.is_type;
}

}  // namespace

NeighbourRule neighbour_rule(const std::string& text, bool has_table) {
  if (text == "mpi") return NeighbourRule::off;
  if (text == "race") return NeighbourRule::race;
  if (text == "straight") return NeighbourRule::straight;
  if (text == "bundled") return NeighbourRule::bundled;
  if (!text.empty() && world_rank() == 0)
    say(fmt::format("AYATORI_NEIGHBOURS={} is ignored: choose race, straight, bundled or mpi", text));
  return has_table ? NeighbourRule::race : NeighbourRule::off;
}

void begin_neighbour_calls(NeighbourRule new_rule) {
  rule() = new_rule;
}

NeighbourTurn::NeighbourTurn(NeighbourKind kind, MPI_Comm comm) : comm_(comm) {
  if (!is_active() || rule() == NeighbourRule::off || comm == MPI_COMM_NULL) return;
  count_neighbour_call();
  failure_ = guarded(comm, [&] {
    calls_ = calls_of(kind, comm);
    return false;
  });
  if (calls_ == nullptr) return;
  route_ = calls_->race.route();
  if (calls_->race.is_racing()) begin_ = PMPI_Wtime();
}

NeighbourTurn::~NeighbourTurn() {
  if (calls_ == nullptr) return;
  NeighbourRace& race = calls_->race;
  race.end_call(race.is_racing() ? PMPI_Wtime() - begin_ : 0, comm_);
}

template <class F>
by_schedule::Result NeighbourTurn::run(F&& set) {
  if (failure_ || is_by_mpi()) return failure_;
  return guarded(comm_, [&] {
    NeighbourBlocks& blocks = calls_->blocks;
    if (!set(blocks)) return false;
    NeighbourExchange& exchange = calls_->exchange;
    const bool is_done =
        route_ == NeighbourRoute::bundled ? exchange.run_bundled(blocks) : exchange.run_straight(blocks);
    if (is_done) count_neighbour_call_done();
    return is_done;
  });
}

namespace by_schedule {

Result neighbor_allgather(NeighbourTurn& turn, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                          void* receive, MPI_Count count, MPI_Datatype type) {
  return turn.run([&](NeighbourBlocks& blocks) {
    const Buffer from(send, send_count, send_type);
    const Buffer to(receive, count, type);
    blocks.is_gather = blocks.is_even = true;
    blocks.sent.assign(1, from);
    set_even(blocks.received, turn.sources(), to);
    return are_types(from, to);
  });
}

Result neighbor_allgatherv(NeighbourTurn& turn, const void* send, MPI_Count send_count,
                           MPI_Datatype send_type, void* receive, Numbers counts, Numbers places,
                           MPI_Datatype type) {
  return turn.run([&](NeighbourBlocks& blocks) {
    const Buffer from(send, send_count, send_type);
    const Buffer to(receive, 0, type);
    blocks.is_gather = blocks.is_even = true;
    blocks.sent.assign(1, from);
    set_uneven(blocks.received, turn.sources(), to, counts, places);
    return are_types(from, to);
  });
}

Result neighbor_alltoall(NeighbourTurn& turn, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                         void* receive, MPI_Count count, MPI_Datatype type) {
  return turn.run([&](NeighbourBlocks& blocks) {
    const Buffer from(send, send_count, send_type);
    const Buffer to(receive, count, type);
    blocks.is_gather = false;
    blocks.is_even = true;
    set_even(blocks.sent, turn.destinations(), from);
    set_even(blocks.received, turn.sources(), to);
    return are_types(from, to);
  });
}

Result neighbor_alltoallv(NeighbourTurn& turn, const void* send, Numbers send_counts, Numbers send_places,
                          MPI_Datatype send_type, void* receive, Numbers counts, Numbers places,
                          MPI_Datatype type) {
  return turn.run([&](NeighbourBlocks& blocks) {
    const Buffer from(send, 0, send_type);
    const Buffer to(receive, 0, type);
    blocks.is_gather = blocks.is_even = false;
    set_uneven(blocks.sent, turn.destinations(), from, send_counts, send_places);
    set_uneven(blocks.received, turn.sources(), to, counts, places);
    return are_types(from, to);
  });
}

Result neighbor_alltoallw(NeighbourTurn& turn, const void* send, Numbers send_counts,
                          const MPI_Aint* send_places, const MPI_Datatype* send_types, void* receive,
                          Numbers counts, const MPI_Aint* places, const MPI_Datatype* types) {
  return turn.run([&](NeighbourBlocks& blocks) {
    blocks.is_gather = blocks.is_even = false;
    set_of_types(blocks.sent, turn.destinations(), send, send_counts, send_places, send_types);
    set_of_types(blocks.received, turn.sources(), receive, counts, places, types);
    return true;
  });
}

}  // namespace by_schedule
}  // namespace ayatori::pmpi
