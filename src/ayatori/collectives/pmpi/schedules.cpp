#include "ayatori/collectives/pmpi/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/json.hpp"
#include "ayatori/collectives/pmpi/buffer.hpp"
#include "ayatori/collectives/pmpi/pair_exchange.hpp"
#include "ayatori/collectives/table.hpp"

namespace ayatori::pmpi {

namespace {

using collectives::Elements;
using collectives::Executor;
using collectives::Operation;

constexpr int operation_count = static_cast<int>(Operation::barrier) + 1;

/// Of this process; never destroyed, like the library.
struct Schedules {
  collectives::ScheduleTable table;
  using Counts = std::array<std::atomic<std::int64_t>, operation_count>;  ///< by operation
  Counts calls{};
  Counts done{};  ///< of these, by schedules
};

Schedules& schedules() {
  static auto* const the_schedules = new Schedules;
  return *the_schedules;
}

/// For the report alone: threads that count at one place wait for each other.
void count(Schedules::Counts& counts, Operation operation) {
  if (settings().reports) counts[static_cast<std::size_t>(operation)].fetch_add(1, std::memory_order_relaxed);
}

/// The schedules of a communicator, made by its first call; null where it has none. `comm` may be anything.
CommSchedules* schedules_of(MPI_Comm comm) {
  CommFacts& facts = facts_of(comm);
  if (!facts.has_asked_for_schedules) {
    // Ranks of other worlds may have read other tables.
    const auto size = static_cast<int>(facts.world_ranks.size());
    if (facts.is_intra && facts.is_in_world && size > 1 && schedules().table.has(size)) {
      if (auto space = TagSpace::make(comm, facts))
        facts.schedules = std::make_shared<CommSchedules>(std::move(*space), schedules().table);
    }
    facts.has_asked_for_schedules = true;
  }
  return facts.schedules.get();
}

/// One call: does(schedules of the communicator) gives whether it has done it.
template <class F>
by_schedule::Result attempt(Operation operation, MPI_Comm comm, F&& does) {
  if (!is_active() || schedules().table.is_empty() || comm == MPI_COMM_NULL) return std::nullopt;
  count(schedules().calls, operation);
  int code = MPI_SUCCESS;
  try {
    CommSchedules* const of_comm = schedules_of(comm);
    if (of_comm == nullptr || !does(*of_comm)) return std::nullopt;
    count(schedules().done, operation);
    return MPI_SUCCESS;
  } catch (const MpiError& error) {
    code = error.code;
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
  } catch (const std::exception&) {
    code = MPI_ERR_INTERN;
  }
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

/// Bytes of all blocks, or -1 if that is more than MPI counts, nothing, or not to be counted. Ranks may
/// describe the same data by different types, but its bytes are the same on all.
std::int64_t total(MPI_Count count, MPI_Datatype type, const Layout& layout, int blocks) {
  constexpr MPI_Count most = std::numeric_limits<int>::max();
  if (type == MPI_DATATYPE_NULL || count <= 0 || layout.size <= 0 || layout.size > most / count / blocks)
    return -1;
  return count * layout.size * blocks;
}

bool is_root_in(int root, const CommSchedules& s) {
  return root >= 0 && root < s.size();
}

/// Data that only moves is cut at multiples of this, whatever type a rank gives it.
Elements units(std::int64_t bytes) {
  constexpr std::int64_t longest = 64;
  const std::int64_t size = std::min(bytes & -bytes, longest);
  return {bytes / size, size};
}

void move(CommSchedules& s, Executor& executor, std::byte* data, const Elements& elements) {
  s.transport().begin(MPI_DATATYPE_NULL, MPI_OP_NULL);
  executor.run(s.transport(), data, elements);
}

void move(CommSchedules& s, Executor& executor, std::byte* data, std::int64_t bytes) {
  move(s, executor, data, units(bytes));
}

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
/// how long those are:
/// prepare(bytes in memory) gives the buffer on which it works in place, and holds what this rank
/// contributes.
template <class F>
std::byte* reduce_in(CommSchedules& s, Operation operation, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     int root, F&& prepare, collectives::BlockBegins begins = std::nullopt) {
  if (type == MPI_DATATYPE_NULL) return nullptr;
  const Layout layout = layout_of(type);
  const int blocks = collectives::type_of(operation).is_by_rank && !begins ? s.size() : 1;
  if (total(count, type, layout, blocks) < 0 || !can_reduce(layout, type, op)) return nullptr;
  const std::int64_t bytes = count * layout.extent * blocks;
  if (bytes > std::numeric_limits<int>::max()) return nullptr;
  const bool is_free = commutes(op);
  Executor* const executor = s.executor(operation, bytes, root, !is_free);
  if (executor == nullptr) return nullptr;
  std::byte* const data = prepare(bytes);
  if (data == nullptr) return nullptr;
  s.transport().begin(type, op);
  executor->run(s.transport(), data, {count, layout.extent, is_free, begins});
  return data;
}

constexpr std::byte* no_place = nullptr;

/// Brings what this rank contributes to where a reduction works; null for what is no place.
std::byte* contribute(const void* send, std::byte* place, std::int64_t bytes) {
  if (send == nullptr || place == nullptr || place == MPI_IN_PLACE) return nullptr;
  if (send != MPI_IN_PLACE && send != place) std::copy_n(static_cast<const std::byte*>(send), bytes, place);
  return place;
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
  if (!table.is_empty() && !begin_private_comm()) {
    if (world_rank() == 0) say("schedules are not used: the MPI has no communicator left");
    table = {};
  }
  schedules().table = std::move(table);
}

void end_schedules() {
  end_private_comm();
  if (!settings().reports) return;
  std::array<std::int64_t, std::size_t{2} * operation_count> counts{};
  for (int i = 0; i < operation_count; ++i) {
    counts[i] = schedules().calls[i];
    counts[operation_count + i] = schedules().done[i];
  }
  auto sums = counts;
  PMPI_Reduce(counts.data(), sums.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  if (world_rank() != 0) return;
  std::string text;
  for (const auto& type : collectives::operations()) {
    const auto i = static_cast<std::size_t>(type.operation);
    if (sums[i] > 0)
      text += fmt::format("{} {} {} of {}", text.empty() ? "" : ",", type.name, sums[operation_count + i],
                          sums[i]);
  }
  say("calls done by schedules:" + (text.empty() ? " none" : text));
}

namespace by_schedule {

Result barrier(MPI_Comm comm) {
  return attempt(Operation::barrier, comm, [&](CommSchedules& s) {
    double nothing = 0;
    constexpr auto place = [](double& element) { return reinterpret_cast<std::byte*>(&element); };
    static_assert(sizeof nothing == collectives::barrier_bytes);
    return reduce_in(s, Operation::barrier, 1, MPI_DOUBLE, MPI_MAX, 0,
                     [&](std::int64_t) { return place(nothing); }) != nullptr;
  });
}

Result broadcast(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return attempt(Operation::broadcast, comm, [&](CommSchedules& s) {
    const Buffer buffer(data, count, type);
    const std::int64_t bytes = total(count, type, buffer.layout, 1);
    if (bytes < 0 || !is_root_in(root, s) || !buffer.is_there()) return false;
    Executor* const executor = s.executor(Operation::broadcast, bytes, root, false);
    if (executor == nullptr) return false;
    if (buffer.layout.is_contiguous) {
      move(s, *executor, buffer.at(0), bytes);
      return true;
    }
    std::byte* const scratch = s.scratch(bytes);
    if (s.rank() == root) pack(s, buffer, 0, 1, scratch);
    move(s, *executor, scratch, bytes);
    if (s.rank() != root) unpack(s, scratch, buffer, 0, 1);
    return true;
  });
}

Result reduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm) {
  return attempt(Operation::reduce, comm, [&](CommSchedules& s) {
    if (!is_root_in(root, s)) return false;
    return reduce_in(s, Operation::reduce, count, type, op, root, [&](std::int64_t bytes) {
             if (s.rank() == root && are_alike(send, receive, true)) return no_place;
             auto* const place = s.rank() == root ? static_cast<std::byte*>(receive) : s.scratch(bytes);
             if (send == MPI_IN_PLACE && s.rank() != root) return no_place;
             return contribute(send, place, bytes);
           }) != nullptr;
  });
}

Result allreduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm) {
  return attempt(Operation::allreduce, comm, [&](CommSchedules& s) {
    return reduce_in(s, Operation::allreduce, count, type, op, 0, [&](std::int64_t bytes) {
             if (are_alike(send, receive, count > 1)) return no_place;
             return contribute(send, static_cast<std::byte*>(receive), bytes);
           }) != nullptr;
  });
}

Result reduce_scatter_block(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  return attempt(Operation::reduce_scatter, comm, [&](CommSchedules& s) {
    std::int64_t block = 0;
    const std::byte* const result =
        reduce_in(s, Operation::reduce_scatter, count, type, op, 0, [&](std::int64_t bytes) {
          block = bytes / s.size();
          if (receive == nullptr || receive == MPI_IN_PLACE || are_alike(send, receive)) return no_place;
          return contribute(send == MPI_IN_PLACE ? receive : send, s.scratch(bytes), bytes);
        });
    if (result == nullptr) return false;
    std::copy_n(result + s.rank() * block, block, static_cast<std::byte*>(receive));
    return true;
  });
}

Result reduce_scatter(const void* send, void* receive, Numbers counts, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm) {
  return attempt(Operation::reduce_scatter, comm, [&](CommSchedules& s) {
    const auto blocks = begins_of(counts, 1, s.size());
    if (!blocks) return false;
    const auto& begins = *blocks;
    const std::int64_t own = begins[s.rank() + 1] - begins[s.rank()];
    std::int64_t element = 0;
    const std::byte* const result = reduce_in(
        s, Operation::reduce_scatter, begins.back(), type, op, 0,
        [&](std::int64_t bytes) {
          element = bytes / begins.back();
          const bool is_there = receive != MPI_IN_PLACE && (receive != nullptr || own == 0);
          if (!is_there || are_alike(send, receive)) return no_place;
          return contribute(send == MPI_IN_PLACE ? receive : send, s.scratch(bytes), bytes);
        },
        begins);
    if (result == nullptr) return false;
    std::copy_n(result + begins[s.rank()] * element, own * element, static_cast<std::byte*>(receive));
    return true;
  });
}

Result gather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, MPI_Count count,
              MPI_Datatype type, int root, MPI_Comm comm) {
  return attempt(Operation::gather, comm, [&](CommSchedules& s) {
    const bool is_root = s.rank() == root;
    const bool is_in_place = send == MPI_IN_PLACE;
    if (!is_root_in(root, s) || (is_in_place && !is_root)) return false;
    const Buffer to(receive, is_root ? count : 0, is_root ? type : MPI_DATATYPE_NULL,
                    Checked::not_by_open_mpi);
    const Buffer from = is_in_place ? to : Buffer(send, send_count, send_type);
    const std::int64_t bytes = total(from.count, from.type, from.layout, s.size());
    if (bytes < 0 || !from.is_there()) return false;
    if (is_root && are_alike(send, receive)) return false;
    Executor* const executor = s.executor(Operation::gather, bytes, root, false);
    if (executor == nullptr) return false;
    const bool is_direct = is_root && to.layout.is_contiguous;
    std::byte* const data = is_direct ? to.at(0) : s.scratch(bytes);
    const std::int64_t block = bytes / s.size();
    if (!is_in_place || !is_direct) pack(s, from, is_in_place ? root : 0, 1, data + s.rank() * block);
    move(s, *executor, data, block);
    if (is_root && !is_direct) unpack(s, data, to, 0, s.size());
    return true;
  });
}

Result scatter(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, MPI_Count count,
               MPI_Datatype type, int root, MPI_Comm comm) {
  return attempt(Operation::scatter, comm, [&](CommSchedules& s) {
    const bool is_root = s.rank() == root;
    const bool is_in_place = receive == MPI_IN_PLACE;
    if (!is_root_in(root, s) || (is_in_place && !is_root)) return false;
    const Buffer from(send, is_root ? send_count : 0, is_root ? send_type : MPI_DATATYPE_NULL,
                      Checked::not_by_open_mpi);
    const Buffer to = is_in_place ? from : Buffer(receive, count, type, Checked::not_by_open_mpi);
    const std::int64_t bytes = total(to.count, to.type, to.layout, s.size());
    if (bytes < 0 || !to.is_there()) return false;
    if (is_root && are_alike(send, receive)) return false;
    Executor* const executor = s.executor(Operation::scatter, bytes, root, false);
    if (executor == nullptr) return false;
    const bool is_direct = is_root && from.layout.is_contiguous && executor->only_sends();
    std::byte* const data = is_direct ? from.at(0) : s.scratch(bytes);
    const std::int64_t block = bytes / s.size();
    if (is_root && !is_direct) pack(s, from, 0, s.size(), data);
    move(s, *executor, data, block);
    if (!is_in_place) unpack(s, data + s.rank() * block, to, 0, 1);
    return true;
  });
}

Result allgather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                 MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
  return attempt(Operation::allgather, comm, [&](CommSchedules& s) {
    const bool is_in_place = send == MPI_IN_PLACE;
    const Buffer to(receive, count, type, Checked::not_by_open_mpi);
    const Buffer from = is_in_place ? to : Buffer(send, send_count, send_type);
    const std::int64_t bytes = total(count, type, to.layout, s.size());
    if (bytes < 0 || !to.is_there() || !from.is_there() || !is_same_length(from, to)) return false;
    if (are_alike(send, receive)) return false;
    Executor* const executor = s.executor(Operation::allgather, bytes, 0, false);
    if (executor == nullptr) return false;
    const bool is_direct = to.layout.is_contiguous;
    std::byte* const data = is_direct ? to.at(0) : s.scratch(bytes);
    const std::int64_t block = bytes / s.size();
    if (!is_in_place || !is_direct) pack(s, from, is_in_place ? s.rank() : 0, 1, data + s.rank() * block);
    move(s, *executor, data, block);
    if (!is_direct) unpack(s, data, to, 0, s.size());
    return true;
  });
}

Result allgatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                  Numbers counts, Numbers places, MPI_Datatype type, MPI_Comm comm) {
  return attempt(Operation::allgather, comm, [&](CommSchedules& s) {
    const Buffer to(receive, 1, type, Checked::not_by_open_mpi);
    const auto blocks = begins_of(counts, to.layout.size, s.size());
    if (!blocks || !to.is_there()) return false;
    const auto& begins = *blocks;
    const auto block = [&](int rank) { return to.part(counts[rank], places[rank]); };
    const bool is_in_place = send == MPI_IN_PLACE;
    const Buffer from = is_in_place ? block(s.rank()) : Buffer(send, send_count, send_type);
    if (!is_same_length(from, block(s.rank())) || (from.count > 0 && !from.is_there())) return false;
    Executor* const executor = s.executor(Operation::allgather, begins.back(), 0, false);
    if (executor == nullptr) return false;
    // In the program's own buffer where its blocks lie one after the other as well.
    std::byte* data = nullptr;
    bool is_direct = to.layout.is_contiguous;
    for (int rank = 0; rank < s.size() && is_direct; ++rank) {
      if (counts[rank] == 0) continue;
      std::byte* const place = block(rank).at(0);
      if (data == nullptr) data = place;
      is_direct = place == data + begins[rank];
    }
    if (!is_direct) data = s.scratch(begins.back());
    if (!is_in_place || !is_direct) pack(s, from, 0, 1, data + begins[s.rank()]);
    move(s, *executor, data, Elements{0, 1, true, begins});
    for (int rank = 0; rank < s.size() && !is_direct; ++rank)
      unpack(s, data + begins[rank], block(rank), 0, 1);
    return true;
  });
}

Result alltoall(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
  return attempt(Operation::alltoall, comm, [&](CommSchedules& s) {
    const bool is_in_place = send == MPI_IN_PLACE;
    const Buffer to(receive, count, type);
    const Buffer from = is_in_place ? to : Buffer(send, send_count, send_type);
    const std::int64_t bytes = total(count, type, to.layout, s.size());
    if (bytes < 0 || !to.is_there() || !from.is_there() || !is_same_length(from, to)) return false;
    if (are_alike(send, receive)) return false;
    Executor* const executor = s.executor(Operation::alltoall, bytes, 0, false);
    if (executor == nullptr) return false;
    const bool is_direct = to.layout.is_contiguous;
    std::byte* const data = is_direct ? to.at(0) : s.scratch(bytes);
    if (!is_in_place || !is_direct) pack(s, from, 0, s.size(), data);
    move(s, *executor, data, bytes / s.size());
    if (!is_direct) unpack(s, data, to, 0, s.size());
    return true;
  });
}

Result gatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive, Numbers counts,
               Numbers places, MPI_Datatype type, int root, MPI_Comm comm) {
  return attempt(Operation::gather, comm, [&](CommSchedules& s) {
    const bool is_root = s.rank() == root;
    const bool is_in_place = send == MPI_IN_PLACE;
    if (!is_root_in(root, s) || (is_in_place && !is_root)) return false;
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
  return attempt(Operation::scatter, comm, [&](CommSchedules& s) {
    const bool is_root = s.rank() == root;
    const bool is_in_place = receive == MPI_IN_PLACE;
    if (!is_root_in(root, s) || (is_in_place && !is_root)) return false;
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
  return attempt(Operation::alltoall, comm, [&](CommSchedules& s) {
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
