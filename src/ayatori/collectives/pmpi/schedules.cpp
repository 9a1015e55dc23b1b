#include "ayatori/collectives/pmpi/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/json.hpp"
#include "ayatori/collectives/pmpi/buffer.hpp"
#include "ayatori/collectives/pmpi/guarded.hpp"
#include "ayatori/collectives/pmpi/neighbour_calls.hpp"
#include "ayatori/collectives/pmpi/pair_exchange.hpp"
#include "ayatori/collectives/pmpi/pending_calls.hpp"
#include "ayatori/collectives/table.hpp"

namespace ayatori::pmpi {

namespace {

using collectives::Elements;
using collectives::Executor;
using collectives::Operation;

constexpr int operation_count = static_cast<int>(Operation::barrier) + 1;
constexpr int neighbour_calls = operation_count;  ///< counted behind the operations
constexpr int counters = operation_count + 1;

/// The schedules of this process; never destroyed, like the library.
struct Schedules {
  collectives::ScheduleTable table;
  using Counts = std::array<std::atomic<std::int64_t>, counters>;  ///< by operation
  Counts calls{};
  Counts done{};  ///< calls among these by schedules
};

Schedules& schedules() {
  static auto* const the_schedules = new Schedules;
  return *the_schedules;
}

/// For the report alone: threads that count at one place wait for each other.
void count(Schedules::Counts& counts, int counter) {
  if (settings().reports) counts[counter].fetch_add(1, std::memory_order_relaxed);
}
void count(Schedules::Counts& counts, Operation operation) {
  count(counts, static_cast<int>(operation));
}

/// Whether this library can send between the ranks of a communicator: those of other worlds may not have it.
bool may_be_ours(const CommFacts& facts) {
  return facts.is_intra && facts.is_in_world && facts.world_ranks.size() > 1;
}

bool may_have_schedules(const CommFacts& facts) {
  return may_be_ours(facts) && schedules().table.has(static_cast<int>(facts.world_ranks.size()));
}

/// The schedules of a communicator, made by its first call; null where it has none. `comm` may be anything.
CommSchedules* schedules_of(MPI_Comm comm) {
  CommFacts& facts = facts_of(comm);
  if (!facts.has_asked_for_schedules) {
    if (may_have_schedules(facts)) schedules_without_table(comm, facts);
    facts.has_asked_for_schedules = true;
  }
  return facts.schedules.get();
}

std::shared_ptr<PendingSchedules> pending_schedules_of(MPI_Comm comm) {
  CommFacts& facts = facts_of(comm);
  if (facts.pending == nullptr && may_have_schedules(facts))
    facts.pending = std::make_shared<PendingSchedules>(comm, facts, schedules().table);
  return facts.pending;
}

/// Who carries a call out: either of these, at once or later.
struct Performer {
  MPI_Comm comm;
  Way way;
  CommSchedules* now = nullptr;
  std::shared_ptr<PendingSchedules> later = nullptr;

  bool is_there() const { return now != nullptr || later != nullptr; }
  int rank() const { return now != nullptr ? now->rank() : later->rank(); }
  int size() const { return now != nullptr ? now->size() : later->size(); }
};

/// One call: does(who carries it out) gives whether it is done, or has begun.
template <class F>
by_schedule::Result attempt(Operation operation, MPI_Comm comm, const Way& way, F&& does) {
  if (!is_active() || schedules().table.is_empty() || comm == MPI_COMM_NULL) return std::nullopt;
  if (!way.is_persistent) count(schedules().calls, operation);
  const bool is_now = way.request == nullptr;
  if (!is_now && !may_be_pending()) return std::nullopt;
  return guarded(comm, [&] {
    Performer performer{comm, way};
    if (is_now)
      performer.now = schedules_of(comm);
    else
      performer.later = pending_schedules_of(comm);
    if (!performer.is_there() || !does(performer)) return false;
    if (!way.is_persistent) count(schedules().done, operation);
    return true;
  });
}

/// Bytes of all blocks, or -1 if that is more than MPI counts, nothing, or not to be counted. Ranks may
/// describe the same data by different types, but its bytes are the same on all.
std::int64_t total(MPI_Count count, MPI_Datatype type, const Layout& layout, int blocks) {
  constexpr MPI_Count most = std::numeric_limits<int>::max();
  if (type == MPI_DATATYPE_NULL || count <= 0 || layout.size <= 0 || layout.size > most / count / blocks)
    return -1;
  return count * layout.size * blocks;
}

bool is_root_in(int root, const Performer& s) {
  return root >= 0 && root < s.size();
}

/// Data that only moves is cut at multiples of this, whatever type a rank gives it.
Elements units(std::int64_t bytes) {
  constexpr std::int64_t longest = 64;
  const std::int64_t size = std::min(bytes & -bytes, longest);
  return {bytes / size, size};
}

/// What a schedule is asked to do.
struct Work {
  Operation operation;
  std::int64_t bytes;  ///< length of the buffer on which it works
  Elements elements;
  int root = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< type of calls that reduce
  MPI_Op op = MPI_OP_NULL;
  /// Where it works in the program's own memory; null: elsewhere.
  std::byte* place = nullptr;
  bool must_stay = false;  ///< as it is: elsewhere, too, if it would not
};

/// The call goes on behind a request that is made.
template <class Before, class After>
bool carry_out_later(const Performer& s, const Work& work, std::vector<MPI_Datatype> types, Before&& before,
                     After&& after) {
  auto part = s.later->take(work.operation, work.bytes, work.root, !work.elements.commutes);
  if (part == nullptr) return false;
  auto call = std::make_shared<PendingCall>();
  call->operation = work.operation;
  call->schedules = s.later;
  call->part = std::move(part);
  call->elements = work.elements;
  call->type = work.type;
  call->op = work.op;
  call->types = std::move(types);
  if (work.elements.begins) {
    call->begins.assign(work.elements.begins->begin(), work.elements.begins->end());
    call->elements.begins = call->begins;
  }
  call->data = work.place;
  if (work.place == nullptr || (work.must_stay && !call->part->executor.only_sends())) {
    call->scratch.resize(work.bytes);
    call->data = call->scratch.data();
  }
  call->before = std::forward<Before>(before);
  call->after = std::forward<After>(after);
  add(std::move(call), s.comm, s.way);
  return true;
}

/// before(room) brings what this rank contributes to where the schedule works, after(room) takes the result
/// from there. They are kept if the call goes on later, with its types. False where there is no schedule.
template <class Before, class After>
bool carry_out(const Performer& s, const Work& work, std::initializer_list<MPI_Datatype> types,
               Before&& before, After&& after) {
  if (s.now == nullptr)
    return carry_out_later(s, work, types, std::forward<Before>(before), std::forward<After>(after));
  CommSchedules& now = *s.now;
  Executor* const executor = now.executor(work.operation, work.bytes, work.root, !work.elements.commutes);
  if (executor == nullptr) return false;
  const bool is_direct = work.place != nullptr && (!work.must_stay || executor->only_sends());
  std::byte* const data = is_direct ? work.place : now.scratch(work.bytes);
  const Room room{now.rank(), now.size(), data, work.elements.begins, &now};
  before(room);
  now.transport().begin(work.type, work.op);
  executor->run(now.transport(), data, work.elements);
  after(room);
  return true;
}

constexpr auto nothing = [](const Room&) {};

/// What MPI defines, and a schedule can do: elements that lie in memory as they are, with holes only where
/// MPI's own types have them.
bool can_reduce(const Layout& layout, MPI_Datatype type, MPI_Op op) {
  if (!reduces(op)) return false;
  return is_named(op) ? is_defined(op, type) : layout.is_contiguous || layout.is_named;
}

bool commutes(MPI_Op op) {
  if (is_named(op)) return true;
  int result = 0;
  check(PMPI_Op_commutative(op, &result));
  return result != 0;
}

/// Where the blocks of a vector call begin when they lie one after the other, in units of which an element
/// has `unit`; nothing where total() has nothing. Kept until the next call.
collectives::BlockBegins begins_of(Numbers counts, MPI_Count unit, int ranks) {
  constexpr MPI_Count most = std::numeric_limits<int>::max();
  thread_local std::vector<std::int64_t> begins;
  begins.assign(1, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const MPI_Count count = counts[rank];
    if (unit <= 0 || count < 0 || count > (most - begins.back()) / unit) return std::nullopt;
    begins.push_back(begins.back() + count * unit);
  }
  if (begins.back() == 0) return std::nullopt;
  return begins;
}

/// A reduction of `count` elements, of every rank's block where it is by rank, or of all where `begins` says
/// how long those are; nothing where a schedule cannot do it.
std::optional<Work> reduction(const Performer& s, Operation operation, MPI_Count count, MPI_Datatype type,
                              MPI_Op op, int root = 0, collectives::BlockBegins begins = std::nullopt) {
  if (type == MPI_DATATYPE_NULL) return std::nullopt;
  const Layout layout = layout_of(type);
  const int blocks = collectives::type_of(operation).is_by_rank && !begins ? s.size() : 1;
  if (total(count, type, layout, blocks) < 0 || !can_reduce(layout, type, op)) return std::nullopt;
  const std::int64_t bytes = count * layout.extent * blocks;
  if (bytes > std::numeric_limits<int>::max()) return std::nullopt;
  return Work{operation, bytes, {count, layout.extent, commutes(op), begins}, root, type, op};
}

bool is_place(const void* data) {
  return data != nullptr && data != MPI_IN_PLACE;
}

/// Brings what this rank contributes to where a reduction works.
auto contribute(const void* send, std::int64_t bytes) {
  return [=](const Room& room) {
    if (send != MPI_IN_PLACE && send != room.data)
      std::copy_n(static_cast<const std::byte*>(send), bytes, room.data);
  };
}

/// Whether the buffers are one where the MPI refuses that: Open MPI does in `open_mpi_too` alone. MPI_BOTTOM
/// is no buffer.
bool are_alike(const void* send, const void* receive, bool open_mpi_too = false) {
  return (open_mpi_too || !is_open_mpi()) && send == receive && send != MPI_BOTTOM;
}

}  // namespace

collectives::ScheduleTable read_table(const std::string& paths) {
  if (paths.empty()) return {};
  std::string text;
  if (world_rank() == 0) {
    try {
      text = collectives::read_schedules(paths).dump();
    } catch (const std::exception& error) {
      say(fmt::format("AYATORI_COLLECTIVES is ignored: {}", error.what()));
    }
  }
  text = from_first_rank(std::move(text));
  if (text.empty()) return {};
  return collectives::ScheduleTable(parse_json(text));
}

void begin_schedules(collectives::ScheduleTable table) {
  NeighbourRule rule = neighbour_rule(settings().neighbours, !table.is_empty());
  if ((!table.is_empty() || rule != NeighbourRule::off) && !begin_private_comm()) {
    if (world_rank() == 0) say("schedules are not used: the MPI has no communicator left");
    table = {};
    rule = NeighbourRule::off;
  }
  begin_neighbour_calls(rule);
  if (!table.is_empty()) begin_pending_calls();
  schedules().table = std::move(table);
}

void end_schedules() {
  end_pending_calls();
  end_private_comm();
  if (!settings().reports) return;
  std::array<std::int64_t, std::size_t{2} * counters> counts{};
  for (int i = 0; i < counters; ++i) {
    counts[i] = schedules().calls[i];
    counts[counters + i] = schedules().done[i];
  }
  auto sums = counts;
  PMPI_Reduce(counts.data(), sums.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  if (world_rank() != 0) return;
  std::string text;
  const auto tell = [&](std::string_view name, std::size_t counter) {
    if (sums[counter] > 0)
      text += fmt::format("{} {} {} of {}", text.empty() ? "" : ",", name, sums[counters + counter],
                          sums[counter]);
  };
  for (const auto& type : collectives::operations())
    tell(type.name, static_cast<std::size_t>(type.operation));
  tell("neighbours", neighbour_calls);
  say("calls done by schedules:" + (text.empty() ? " none" : text));
}

void count_start(Operation operation) {
  count(schedules().calls, operation);
  count(schedules().done, operation);
}

void count_neighbour_call() {
  count(schedules().calls, neighbour_calls);
}

void count_neighbour_call_done() {
  count(schedules().done, neighbour_calls);
}

CommSchedules* schedules_without_table(MPI_Comm comm, CommFacts& facts) {
  if (facts.schedules == nullptr && may_be_ours(facts)) {
    if (auto space = TagSpace::make(comm, facts))
      facts.schedules = std::make_shared<CommSchedules>(std::move(*space), schedules().table);
  }
  return facts.schedules.get();
}

namespace by_schedule {

Result barrier(MPI_Comm comm, const Way& way) {
  return attempt(Operation::barrier, comm, way, [&](const Performer& s) {
    static_assert(sizeof(double) == collectives::barrier_bytes);
    const Work work{
        Operation::barrier, collectives::barrier_bytes, {1, sizeof(double)}, 0, MPI_DOUBLE, MPI_MAX};
    return carry_out(
        s, work, {}, [](const Room& room) { std::fill_n(room.data, sizeof(double), std::byte{}); }, nothing);
  });
}

Result broadcast(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, const Way& way) {
  return attempt(Operation::broadcast, comm, way, [&](const Performer& s) {
    const Buffer buffer(data, count, type);
    const std::int64_t bytes = total(count, type, buffer.layout, 1);
    if (bytes < 0 || !is_root_in(root, s) || !buffer.is_there()) return false;
    Work work{Operation::broadcast, bytes, units(bytes), root};
    if (buffer.layout.is_contiguous) {
      work.place = buffer.at(0);
      return carry_out(s, work, {}, nothing, nothing);
    }
    const bool is_root = s.rank() == root;
    return carry_out(
        s, work, {type},
        [=](const Room& room) {
          if (is_root) pack(room.now, buffer, 0, 1, room.data);
        },
        [=](const Room& room) {
          if (!is_root) unpack(room.now, room.data, buffer, 0, 1);
        });
  });
}

Result reduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm, const Way& way) {
  return attempt(Operation::reduce, comm, way, [&](const Performer& s) {
    if (!is_root_in(root, s) || send == nullptr) return false;
    auto work = reduction(s, Operation::reduce, count, type, op, root);
    if (!work) return false;
    const bool is_root = s.rank() == root;
    if (is_root ? !is_place(receive) || are_alike(send, receive, true) : send == MPI_IN_PLACE) return false;
    if (is_root) work->place = static_cast<std::byte*>(receive);
    return carry_out(s, *work, {type}, contribute(send, work->bytes), nothing);
  });
}

Result allreduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, const Way& way) {
  return attempt(Operation::allreduce, comm, way, [&](const Performer& s) {
    auto work = reduction(s, Operation::allreduce, count, type, op);
    if (!work || send == nullptr || !is_place(receive)) return false;
    if (are_alike(send, receive, count > 1)) return false;
    work->place = static_cast<std::byte*>(receive);
    return carry_out(s, *work, {type}, contribute(send, work->bytes), nothing);
  });
}

Result reduce_scatter_block(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, const Way& way) {
  return attempt(Operation::reduce_scatter, comm, way, [&](const Performer& s) {
    const auto work = reduction(s, Operation::reduce_scatter, count, type, op);
    if (!work || send == nullptr || !is_place(receive) || are_alike(send, receive)) return false;
    const std::int64_t block = work->bytes / s.size();
    return carry_out(s, *work, {type}, contribute(send == MPI_IN_PLACE ? receive : send, work->bytes),
                     [=](const Room& room) {
                       std::copy_n(room.data + room.rank * block, block, static_cast<std::byte*>(receive));
                     });
  });
}

Result reduce_scatter(const void* send, void* receive, Numbers counts, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, const Way& way) {
  return attempt(Operation::reduce_scatter, comm, way, [&](const Performer& s) {
    const auto blocks = begins_of(counts, 1, s.size());
    if (!blocks) return false;
    const auto& begins = *blocks;
    const std::int64_t own = begins[s.rank() + 1] - begins[s.rank()];
    const auto work = reduction(s, Operation::reduce_scatter, begins.back(), type, op, 0, begins);
    const bool is_there = receive != MPI_IN_PLACE && (receive != nullptr || own == 0);
    if (!work || !is_there || are_alike(send, receive)) return false;
    const void* const from = send == MPI_IN_PLACE ? receive : send;
    if (from == nullptr) return false;
    const std::int64_t element = work->elements.size;
    return carry_out(s, *work, {type}, contribute(from, work->bytes), [=](const Room& room) {
      std::copy_n(room.data + (*room.begins)[room.rank] * element, own * element,
                  static_cast<std::byte*>(receive));
    });
  });
}

Result gather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, MPI_Count count,
              MPI_Datatype type, int root, MPI_Comm comm, const Way& way) {
  return attempt(Operation::gather, comm, way, [&](const Performer& s) {
    const bool is_root = s.rank() == root;
    const bool is_in_place = send == MPI_IN_PLACE;
    if (!is_root_in(root, s) || (is_in_place && !is_root)) return false;
    const Buffer to(receive, is_root ? count : 0, is_root ? type : MPI_DATATYPE_NULL,
                    Checked::not_by_open_mpi);
    const Buffer from = is_in_place ? to : Buffer(send, send_count, send_type);
    const std::int64_t bytes = total(from.count, from.type, from.layout, s.size());
    if (bytes < 0 || !from.is_there()) return false;
    if (is_root && are_alike(send, receive)) return false;
    const std::int64_t block = bytes / s.size();
    const bool is_direct = is_root && to.layout.is_contiguous;
    Work work{Operation::gather, bytes, units(block), root};
    if (is_direct) work.place = to.at(0);
    return carry_out(
        s, work, {from.type, to.type},
        [=](const Room& room) {
          if (!is_in_place || !is_direct)
            pack(room.now, from, is_in_place ? root : 0, 1, room.data + room.rank * block);
        },
        [=](const Room& room) {
          if (is_root && !is_direct) unpack(room.now, room.data, to, 0, room.size);
        });
  });
}

Result scatter(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, MPI_Count count,
               MPI_Datatype type, int root, MPI_Comm comm, const Way& way) {
  return attempt(Operation::scatter, comm, way, [&](const Performer& s) {
    const bool is_root = s.rank() == root;
    const bool is_in_place = receive == MPI_IN_PLACE;
    if (!is_root_in(root, s) || (is_in_place && !is_root)) return false;
    const Buffer from(send, is_root ? send_count : 0, is_root ? send_type : MPI_DATATYPE_NULL,
                      Checked::not_by_open_mpi);
    const Buffer to = is_in_place ? from : Buffer(receive, count, type, Checked::not_by_open_mpi);
    const std::int64_t bytes = total(to.count, to.type, to.layout, s.size());
    if (bytes < 0 || !to.is_there()) return false;
    if (is_root && are_alike(send, receive)) return false;
    const std::int64_t block = bytes / s.size();
    Work work{Operation::scatter, bytes, units(block), root};
    if (is_root && from.layout.is_contiguous) work.place = from.at(0);
    work.must_stay = true;
    return carry_out(
        s, work, {from.type, to.type},
        [=, place = work.place](const Room& room) {
          if (is_root && room.data != place) pack(room.now, from, 0, room.size, room.data);
        },
        [=](const Room& room) {
          if (!is_in_place) unpack(room.now, room.data + room.rank * block, to, 0, 1);
        });
  });
}

Result allgather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                 MPI_Count count, MPI_Datatype type, MPI_Comm comm, const Way& way) {
  return attempt(Operation::allgather, comm, way, [&](const Performer& s) {
    const bool is_in_place = send == MPI_IN_PLACE;
    const Buffer to(receive, count, type, Checked::not_by_open_mpi);
    const Buffer from = is_in_place ? to : Buffer(send, send_count, send_type);
    const std::int64_t bytes = total(count, type, to.layout, s.size());
    if (bytes < 0 || !to.is_there() || !from.is_there() || !is_same_length(from, to)) return false;
    if (are_alike(send, receive)) return false;
    const std::int64_t block = bytes / s.size();
    const bool is_direct = to.layout.is_contiguous;
    Work work{Operation::allgather, bytes, units(block)};
    if (is_direct) work.place = to.at(0);
    return carry_out(
        s, work, {from.type, to.type},
        [=](const Room& room) {
          const int own = room.rank;
          if (!is_in_place || !is_direct)
            pack(room.now, from, is_in_place ? own : 0, 1, room.data + own * block);
        },
        [=](const Room& room) {
          if (!is_direct) unpack(room.now, room.data, to, 0, room.size);
        });
  });
}

Result allgatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                  Numbers counts, Numbers places, MPI_Datatype type, MPI_Comm comm, const Way& way) {
  return attempt(Operation::allgather, comm, way, [&](const Performer& s) {
    const Buffer to(receive, 1, type, Checked::not_by_open_mpi);
    const auto blocks = begins_of(counts, to.layout.size, s.size());
    if (!blocks || !to.is_there()) return false;
    const auto& begins = *blocks;
    const auto block = [=](int rank) { return to.part(counts[rank], places[rank]); };
    const bool is_in_place = send == MPI_IN_PLACE;
    const Buffer from = is_in_place ? block(s.rank()) : Buffer(send, send_count, send_type);
    if (!is_same_length(from, block(s.rank())) || (from.count > 0 && !from.is_there())) return false;
    // In the program's own buffer where its blocks lie one after the other as well.
    std::byte* data = nullptr;
    bool is_direct = to.layout.is_contiguous;
    for (int rank = 0; rank < s.size() && is_direct; ++rank) {
      if (counts[rank] == 0) continue;
      std::byte* const place = block(rank).at(0);
      if (data == nullptr) data = place;
      is_direct = place == data + begins[rank];
    }
    Work work{Operation::allgather, begins.back(), {0, 1, true, begins}};
    if (is_direct) work.place = data;
    return carry_out(
        s, work, {from.type, to.type},
        [=](const Room& room) {
          if (!is_in_place || !is_direct) pack(room.now, from, 0, 1, room.data + (*room.begins)[room.rank]);
        },
        [=](const Room& room) {
          for (int rank = 0; rank < room.size && !is_direct; ++rank)
            unpack(room.now, room.data + (*room.begins)[rank], block(rank), 0, 1);
        });
  });
}

Result alltoall(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                MPI_Count count, MPI_Datatype type, MPI_Comm comm, const Way& way) {
  return attempt(Operation::alltoall, comm, way, [&](const Performer& s) {
    const bool is_in_place = send == MPI_IN_PLACE;
    const Buffer to(receive, count, type);
    const Buffer from = is_in_place ? to : Buffer(send, send_count, send_type);
    const std::int64_t bytes = total(count, type, to.layout, s.size());
    if (bytes < 0 || !to.is_there() || !from.is_there() || !is_same_length(from, to)) return false;
    if (are_alike(send, receive)) return false;
    const bool is_direct = to.layout.is_contiguous;
    Work work{Operation::alltoall, bytes, units(bytes / s.size())};
    if (is_direct) work.place = to.at(0);
    return carry_out(
        s, work, {from.type, to.type},
        [=](const Room& room) {
          if (!is_in_place || !is_direct) pack(room.now, from, 0, room.size, room.data);
        },
        [=](const Room& room) {
          if (!is_direct) unpack(room.now, room.data, to, 0, room.size);
        });
  });
}

Result gatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, Numbers counts,
               Numbers places, MPI_Datatype type, int root, MPI_Comm comm) {
  return attempt(Operation::gather, comm, {}, [&](const Performer& performer) {
    CommSchedules& s = *performer.now;
    const bool is_root = s.rank() == root;
    const bool is_in_place = send == MPI_IN_PLACE;
    if (!is_root_in(root, performer) || (is_in_place && !is_root)) return false;
    PairExchange pairs(s, Operation::gather);
    if (!pairs.is_worth_it()) return false;
    if (!is_in_place && !pairs.send(root, Buffer(send, send_count, send_type))) return false;
    if (is_root) {
      const Buffer to(receive, 0, type, Checked::not_by_open_mpi);
      for (int rank = 0; rank < s.size(); ++rank) {
        if (!pairs.receive(rank, to.part(counts[rank], places[rank]))) return false;
      }
    }
    pairs.run();
    return true;
  });
}

Result scatterv(const void* send, Numbers counts, Numbers places, MPI_Datatype type, void* receive,
                MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  return attempt(Operation::scatter, comm, {}, [&](const Performer& performer) {
    CommSchedules& s = *performer.now;
    const bool is_root = s.rank() == root;
    const bool is_in_place = receive == MPI_IN_PLACE;
    if (!is_root_in(root, performer) || (is_in_place && !is_root)) return false;
    PairExchange pairs(s, Operation::scatter);
    if (!pairs.is_worth_it()) return false;
    if (!is_in_place &&
        !pairs.receive(root, Buffer(receive, receive_count, receive_type, Checked::not_by_open_mpi)))
      return false;
    if (is_root) {
      const Buffer from(send, 0, type);
      for (int rank = 0; rank < s.size(); ++rank) {
        if (!pairs.send(rank, from.part(counts[rank], places[rank]))) return false;
      }
    }
    pairs.run();
    return true;
  });
}

Result alltoallv(const void* send, Numbers send_counts, Numbers send_places, MPI_Datatype send_type,
                 void* receive, Numbers counts, Numbers places, MPI_Datatype type, MPI_Comm comm) {
  return attempt(Operation::alltoall, comm, {}, [&](const Performer& performer) {
    CommSchedules& s = *performer.now;
    if (send == MPI_IN_PLACE) return false;  // on all ranks
    PairExchange pairs(s, Operation::alltoall);
    if (!pairs.is_worth_it()) return false;
    const Buffer from(send, 0, send_type);
    const Buffer to(receive, 0, type);
    for (int k = 0; k < s.size(); ++k) {  // each begins with another
      const int target = (s.rank() + k) % s.size();
      const int source = (s.rank() - k + s.size()) % s.size();
      if (!pairs.send(target, from.part(send_counts[target], send_places[target]))) return false;
      if (!pairs.receive(source, to.part(counts[source], places[source]))) return false;
    }
    pairs.run();
    return true;
  });
}

}  // namespace by_schedule
}  // namespace ayatori::pmpi
