#include "ayatori/collectives/pmpi/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>
#include <unordered_map>

#include "ayatori/base/error.hpp"
#include "ayatori/base/json.hpp"
#include "ayatori/base/temporary_file.hpp"

namespace ayatori::pmpi {

namespace {

using nlohmann::json;

struct PersistentRequest {
  CallCount* made_by;
  PersistentCall started;
};

/// All that was recorded; never destroyed, like the library.
struct Records {
  std::mutex mutex;
  std::vector<const CallCount*> calls;
  std::map<std::vector<int>, MemberCalls> collectives;  ///< by members
  std::once_flag has_ranks;
  std::deque<Count> sent;     ///< by world rank that it went to
  std::deque<Count> fetched;  ///< by world rank that it came from, one-sided
  std::unordered_map<std::uintptr_t, PersistentRequest> persistent;  ///< by request
};

Records& records() {
  static auto* const the_records = new Records;
  return *the_records;
}

std::deque<Count>& by_rank(std::deque<Count> Records::*table) {
  Records& r = records();
  std::call_once(r.has_ranks, [&] {
    r.sent.resize(world_size());
    r.fetched.resize(world_size());
  });
  return r.*table;
}

/// MPI_Request is a pointer in one MPI and an integer in the other.
std::uintptr_t key_of(MPI_Request request) {
  return (std::uintptr_t)request;
}

void record_pair(std::deque<Count> Records::*table, int rank, std::int64_t bytes) {
  if (rank != MPI_UNDEFINED) by_rank(table)[rank].add(bytes);
}

json rows_of(std::deque<Count> Records::*table) {
  json rows = json::array();
  const auto& counts = by_rank(table);
  for (int rank = 0; rank < std::ssize(counts); ++rank) {
    const std::int64_t number = counts[rank].number;
    if (number > 0) rows.push_back({rank, number, counts[rank].bytes.load()});
  }
  return rows;
}

/// What this rank hands in to write_trace().
json own_records() {
  Records& r = records();
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  PMPI_Get_processor_name(host.data(), &length);
  json own{{"host", std::string(host.data(), length)},
           {"sent", rows_of(&Records::sent)},
           {"fetched", rows_of(&Records::fetched)},
           {"calls", json::array()},
           {"collectives", json::array()}};
  const std::lock_guard lock(r.mutex);
  for (const CallCount* call : r.calls)
    own["calls"].push_back({call->name(), call->number.load(), call->bytes.load()});
  for (auto& [members, of_members] : r.collectives) {
    const bool is_first = members.front() == world_rank();
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, so that one rank alone has to hand in all members
    for (const int rank : members) hash = (hash ^ static_cast<std::uint64_t>(rank)) * 0x100000001b3U;
    json calls = json::array();
    for (const auto& [function_and_root, count] : of_members.calls)
      calls.push_back({function_and_root.first->name(), function_and_root.second,
                       is_first ? count.number.load() : 0, count.bytes.load()});
    if (calls.empty()) continue;
    own["collectives"].push_back(
        {{"hash", hash}, {"members", is_first ? members : std::vector<int>()}, {"calls", calls}});
  }
  return own;
}

struct Sum {
  std::int64_t number = 0;
  std::int64_t bytes = 0;

  void add(std::int64_t more, std::int64_t more_bytes) {
    number += more;
    bytes += more_bytes;
  }
};

/// What all ranks have handed in, together.
struct Trace {
  std::vector<std::string> hosts;
  std::map<std::pair<int, int>, Sum> messages;
  std::map<std::string, Sum> calls;
  struct Members {
    std::vector<int> ranks;
    std::map<std::pair<std::string, int>, Sum> calls;
  };
  std::map<std::uint64_t, Members> collectives;

  void add(int rank, const json& own) {
    hosts.push_back(own.at("host"));
    for (const auto& row : own.at("sent")) messages[{rank, row[0]}].add(row[1], row[2]);
    for (const auto& row : own.at("fetched")) messages[{row[0], rank}].add(row[1], row[2]);
    for (const auto& row : own.at("calls")) calls[row[0]].add(row[1], row[2]);
    for (const auto& entry : own.at("collectives")) {
      Members& of = collectives[entry.at("hash")];
      if (!entry.at("members").empty()) of.ranks = entry.at("members").get<std::vector<int>>();
      for (const auto& row : entry.at("calls")) of.calls[{row[0], row[1]}].add(row[2], row[3]);
    }
  }
};

/// "key": [, one element a line.
std::string lines_of(std::string_view key, const std::vector<nlohmann::ordered_json>& elements) {
  std::string text = fmt::format("\"{}\": [", key);
  for (std::size_t i = 0; i < elements.size(); ++i)
    text += fmt::format("{}\n  {}", i > 0 ? "," : "", elements[i].dump());
  return text + (elements.empty() ? "]" : "\n ]");
}

std::string text_of(const Trace& trace) {
  std::vector<nlohmann::ordered_json> messages;
  for (const auto& [ends, sum] : trace.messages)
    messages.push_back({ends.first, ends.second, sum.number, sum.bytes});
  std::vector<nlohmann::ordered_json> calls;
  for (const auto& [name, sum] : trace.calls) {
    if (sum.number > 0) calls.push_back({{"call", name}, {"calls", sum.number}, {"bytes", sum.bytes}});
  }
  std::vector<const Trace::Members*> sorted;
  for (const auto& entry : trace.collectives) sorted.push_back(&entry.second);
  std::ranges::sort(sorted, {}, &Trace::Members::ranks);
  std::vector<nlohmann::ordered_json> communicators;
  for (const Trace::Members* of : sorted) {
    nlohmann::ordered_json entry{{"members", of->ranks}, {"collectives", nlohmann::ordered_json::array()}};
    for (const auto& [function_and_root, sum] : of->calls) {
      nlohmann::ordered_json call{{"call", function_and_root.first}};
      if (function_and_root.second >= 0) call["root"] = function_and_root.second;
      call["calls"] = sum.number;
      call["bytes"] = sum.bytes;
      entry["collectives"].push_back(call);
    }
    communicators.push_back(entry);
  }
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  const std::string_view mpi(version.data(), length);
  return fmt::format(
      "{{\"schema\": \"ayatori.trace/1\",\n \"mpi\": {},\n \"ranks\": {},\n \"hosts\": {},\n {},\n {},\n "
      "{}}}\n",
      json(mpi.substr(0, mpi.find_first_of(",\n"))).dump(), world_size(), json(trace.hosts).dump(),
      lines_of("messages", messages), lines_of("calls", calls), lines_of("communicators", communicators));
}

}  // namespace

CallCount::CallCount(const char* function) : name_(function) {
  const std::lock_guard lock(records().mutex);
  records().calls.push_back(this);
}

MemberCalls* calls_of_members(const std::vector<int>& world_ranks) {
  Records& r = records();
  const std::lock_guard lock(r.mutex);
  return &r.collectives[world_ranks];
}

int world_rank_of(int rank, MPI_Comm comm) {
  const std::vector<int>& ranks = facts_of(comm).world_ranks;
  return rank >= 0 && rank < std::ssize(ranks) ? ranks[rank] : MPI_UNDEFINED;
}

std::int64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || count <= 0) return 0;
  PMPI_Type_size_x(type, &size);
  return count * std::max<MPI_Count>(size, 0);
}

void record_send(CallCount& call, MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm) {
  if (!is_tracing() || comm == MPI_COMM_NULL) return;
  const std::int64_t bytes = bytes_of(count, type);
  call.add(bytes);
  record_pair(&Records::sent, world_rank_of(to, comm), bytes);
}

PersistentCall persistent_send(MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm) {
  if (!is_tracing() || comm == MPI_COMM_NULL) return {};
  const std::int64_t bytes = bytes_of(count, type);
  return {.messages = {{world_rank_of(to, comm), bytes}}, .bytes = bytes};
}

PersistentCall persistent_collective(std::int64_t bytes, MPI_Comm comm, int root) {
  return {.bytes = bytes, .members = facts_of(comm).calls, .root = root};
}

void record_persistent(CallCount& call, PersistentCall started, MPI_Request request) {
  if (!is_tracing()) return;
  call.add(0);
  const std::lock_guard lock(records().mutex);
  records().persistent.insert_or_assign(key_of(request), PersistentRequest{&call, std::move(started)});
}

void record_starts(CallCount& call, int count, const MPI_Request requests[]) {
  if (!is_tracing()) return;
  Records& r = records();
  const std::lock_guard lock(r.mutex);
  std::int64_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const auto found = r.persistent.find(key_of(requests[i]));
    if (found == r.persistent.end()) continue;  // receives
    const auto& [made_by, started] = found->second;
    bytes += started.bytes;
    for (const auto& [to, length] : started.messages) record_pair(&Records::sent, to, length);
    if (started.members == nullptr) continue;
    const std::lock_guard lock_members(started.members->mutex);
    started.members->calls[{made_by, started.root}].add(started.bytes);
  }
  call.add(bytes);
}

void forget_persistent(MPI_Request request) {
  if (!is_tracing()) return;
  const std::lock_guard lock(records().mutex);
  records().persistent.erase(key_of(request));
}

void record_one_sided(CallCount& call, Direction direction, MPI_Count count, MPI_Datatype type, int target,
                      MPI_Win win) {
  if (!is_tracing() || win == MPI_WIN_NULL) return;
  const std::int64_t bytes = bytes_of(count, type);
  call.add(bytes);
  if (target < 0) return;
  MPI_Group of_win = MPI_GROUP_NULL;
  MPI_Group of_world = MPI_GROUP_NULL;
  PMPI_Win_get_group(win, &of_win);
  PMPI_Comm_group(MPI_COMM_WORLD, &of_world);
  int rank = MPI_UNDEFINED;
  PMPI_Group_translate_ranks(of_win, 1, &target, of_world, &rank);
  PMPI_Group_free(&of_win);
  PMPI_Group_free(&of_world);
  if (direction != Direction::from_target) record_pair(&Records::sent, rank, bytes);
  if (direction != Direction::to_target) record_pair(&Records::fetched, rank, bytes);
}

void record_collective(CallCount& call, std::int64_t bytes, MPI_Comm comm, int root) {
  if (!is_tracing() || comm == MPI_COMM_NULL) return;
  call.add(bytes);
  MemberCalls* const of_members = facts_of(comm).calls;
  if (of_members == nullptr) return;
  const std::lock_guard lock(of_members->mutex);
  of_members->calls[{&call, root}].add(bytes);
}

void record_message(std::int64_t bytes, int to, MPI_Comm comm) {
  if (is_tracing()) record_pair(&Records::sent, world_rank_of(to, comm), bytes);
}

void write_trace(const std::string& path) {
  constexpr int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, 0, world_rank(), &comm);  // a duplicate would call the program's callbacks
  const json own = own_records();
  if (world_rank() != 0) {
    const std::string text = own.dump();
    PMPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, tag, comm);
  } else {
    Trace trace;
    trace.add(0, own);
    std::string text;
    for (int rank = 1; rank < world_size(); ++rank) {
      MPI_Status status;
      int length = 0;
      PMPI_Probe(rank, tag, comm, &status);
      PMPI_Get_count(&status, MPI_CHAR, &length);
      text.resize(length);
      PMPI_Recv(text.data(), length, MPI_CHAR, rank, tag, comm, MPI_STATUS_IGNORE);
      trace.add(rank, parse_json(text));
    }
    try {
      write_file(path, text_of(trace));
    } catch (const Error& error) {
      say(error.what());
    }
  }
  PMPI_Comm_free(&comm);
}

}  // namespace ayatori::pmpi
