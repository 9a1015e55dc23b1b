#include "ayatori/collectives/pmpi/pending_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "ayatori/collectives/pmpi/kept_handles.hpp"
#include "ayatori/collectives/pmpi/messages/progress_hook.hpp"
#include "ayatori/collectives/pmpi/schedules.hpp"

namespace ayatori::pmpi {

namespace {

using Call = std::shared_ptr<PendingCall>;

struct Message {
  PendingCall* call;
  int tag;  ///< tag of the executor
};

/// The pending calls of this process; never destroyed, like the library. Whoever finds that nobody else is
/// busy with the calls under way carries them on; nobody ever waits to be the one, since the MPI may come
/// here inside of a call that has been made here.
struct PendingCalls {
  bool may_be = false;
  std::atomic<int> number = 0;  ///< begun, and not ended
  std::atomic<int> persistent_number = 0;

  std::mutex mutex;                                     ///< guards these; nothing of MPI is called meanwhile
  std::vector<Call> started;                            ///< and not yet seen by whoever is busy
  std::unordered_map<std::uintptr_t, Call> persistent;  ///< by request
  std::vector<int> free_tickets;
  int tickets = 0;

  std::atomic_flag is_busy;  ///< set while somebody works on these
  std::vector<Call> seen;
  std::vector<std::shared_ptr<PendingSchedules>> waiting;  ///< that have calls which wait for tags
  std::vector<Call> under_way;
  std::vector<MPI_Request> requests;
  std::vector<Message> messages;  ///< by request
  std::vector<int> arrived;
  std::vector<Message> ended;
  std::vector<Call> failed;  ///< messages that are under way still use them
};

PendingCalls& calls() {
  static auto* const the_calls = new PendingCalls;
  return *the_calls;
}

/// MPI_Request is a pointer in one MPI and an integer in the other.
std::uintptr_t key_of(MPI_Request request) {
  return (std::uintptr_t)request;
}

class PendingTransport final : public collectives::Transport {
 public:
  PendingTransport(PendingCalls& p, PendingCall& call) : p_(p), call_(call) {}

  void begin_receive(std::byte* data, std::int64_t length, int peer, int tag) override {
    const TagSpace& space = call_.space();
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Irecv(data, static_cast<int>(length), MPI_BYTE, space.target(peer),
                     space.tag_from_any(own_tag(tag)), private_comm(), &request));
    remember(request, tag);
  }
  void begin_send(const std::byte* data, std::int64_t length, int peer, int tag) override {
    const TagSpace& space = call_.space();
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Isend(data, static_cast<int>(length), MPI_BYTE, space.target(peer),
                     space.tag_to(peer, own_tag(tag)), private_comm(), &request));
    remember(request, tag);
  }
  void poke() override {}  // nothing to advance: there are no channels
  void combine(const std::byte* in, std::byte* inout, std::int64_t count) override {
    check(PMPI_Reduce_local(in, inout, static_cast<int>(count), call_.type, call_.op));
  }

 private:
  int own_tag(int tag) const {
    const std::int64_t tag_of_call = call_.turn.begin + tag - collectives::Executor::first_tag;
    return static_cast<int>(tag_of_call % TagSpace::pending_tags);
  }
  void remember(MPI_Request request, int tag) {
    p_.requests.push_back(request);
    p_.messages.push_back({&call_, tag});
  }

  PendingCalls& p_;
  PendingCall& call_;
};

/// The last thing that is done with a call: the program may start it again, or has freed it.
void end(PendingCalls& p, PendingCall& call, bool is_right) {
  const Call kept = std::move(p.under_way[call.place]);
  p.under_way[call.place] = std::move(p.under_way.back());
  p.under_way.pop_back();
  if (kept != nullptr && call.place < p.under_way.size()) p.under_way[call.place]->place = call.place;
  if (!call.own_space) call.schedules->leave(call.turn);
  --p.number;
  // More than the request has asked for is an error of it.
  const std::byte nothing{};
  MPI_Request sent = MPI_REQUEST_NULL;
  PMPI_Isend(&nothing, is_right ? 0 : 1, MPI_BYTE, 0, call.ticket, own_comm(), &sent);
  PMPI_Request_free(&sent);
}

void fail(PendingCalls& p, PendingCall& call, const std::exception& error) {
  const auto* const of_mpi = dynamic_cast<const MpiError*>(&error);
  say(fmt::format("a collective call that does not block has failed: {}",
                  of_mpi != nullptr ? fmt::format("error {} of MPI", of_mpi->code) : error.what()));
  call.has_failed = true;
  p.failed.push_back(p.under_way[call.place]);
  end(p, call, false);
}

/// go_on() begins something, and gives whether nothing is left to be done.
template <class F>
void carry_on(PendingCalls& p, PendingCall& call, F&& go_on) {
  try {
    PendingTransport transport(p, call);
    if (!go_on(transport)) return;
    call.after(call.room());
  } catch (const std::exception& error) {
    fail(p, call, error);
    return;
  }
  end(p, call, true);
}

void begin(PendingCalls& p, Call begun) {
  PendingCall& call = *begun;
  if (!call.own_space) call.schedules->enter(call.turn);
  call.place = p.under_way.size();
  p.under_way.push_back(std::move(begun));
  carry_on(p, call, [&](PendingTransport& transport) {
    call.before(call.room());
    return call.part->executor.begin(transport, call.data, call.elements);
  });
}

/// All that may begin: a persistent call, and those whose turn it is. Gives their number.
int begin_calls(PendingCalls& p) {
  {
    const std::lock_guard lock(p.mutex);
    std::swap(p.started, p.seen);
  }
  int begun = 0;
  for (Call& call : p.seen) {
    if (call->own_space) {
      begin(p, std::move(call));
      ++begun;
      continue;
    }
    auto& waiting = call->schedules->waiting();
    if (waiting.empty()) p.waiting.push_back(call->schedules);
    waiting.push_back(std::move(call));
  }
  p.seen.clear();
  for (const auto& schedules : p.waiting) {
    auto& waiting = schedules->waiting();
    for (; !waiting.empty() && schedules->may_begin(); ++begun) {
      const Call call = std::move(waiting.front());
      waiting.pop_front();
      begin(p, call);
    }
  }
  std::erase_if(p.waiting, [](const auto& schedules) { return schedules->waiting().empty(); });
  return begun;
}

int take_messages(PendingCalls& p) {
  if (p.requests.empty()) return 0;
  int arrived = 0;
  p.arrived.resize(p.requests.size());
  check(PMPI_Testsome(static_cast<int>(p.requests.size()), p.requests.data(), &arrived, p.arrived.data(),
                      MPI_STATUSES_IGNORE));
  p.ended.clear();
  if (arrived <= 0) return 0;
  std::sort(p.arrived.begin(), p.arrived.begin() + arrived, std::greater<>());
  for (int k = 0; k < arrived; ++k) {
    const int i = p.arrived[k];
    p.ended.push_back(p.messages[i]);
    p.requests[i] = p.requests.back();
    p.messages[i] = p.messages.back();
    p.requests.pop_back();
    p.messages.pop_back();
  }
  for (const auto& [ended, tag] : p.ended) {
    PendingCall& call = *ended;
    if (call.has_failed) continue;
    carry_on(p, call, [&, tag_ended = tag](PendingTransport& transport) {
      return call.part->executor.go_on(transport, call.data, call.elements, tag_ended);
    });
  }
  return arrived;
}

/// What the MPI calls: all that can go on does.
int advance() {
  PendingCalls& p = calls();
  if (p.number.load(std::memory_order_relaxed) == 0) return 0;
  if (p.is_busy.test_and_set(std::memory_order_acquire)) return 0;
  int moved = 0;
  try {
    for (int more = 1; more > 0; moved += more) {
      more = begin_calls(p);
      more += take_messages(p);
    }
  } catch (const std::exception& error) {
    while (!p.under_way.empty()) fail(p, *p.under_way.back(), error);
  }
  p.is_busy.clear(std::memory_order_release);
  return moved;
}

/// It is counted before anybody can end it.
void start(Call call) {
  PendingCalls& p = calls();
  ++p.number;
  {
    const std::lock_guard lock(p.mutex);
    p.started.push_back(std::move(call));
  }
  advance();
}

int take_ticket(PendingCalls& p) {
  const std::lock_guard lock(p.mutex);
  if (p.free_tickets.empty()) return p.tickets++;
  const int ticket = p.free_tickets.back();
  p.free_tickets.pop_back();
  return ticket;
}

}  // namespace

PendingSchedules::PendingSchedules(MPI_Comm comm, const CommFacts& facts,
                                   const collectives::ScheduleTable& table)
    : space_(TagSpace::begin(comm, facts)), cache_(table, space_.rank(), space_.size()) {}

std::unique_ptr<PendingSchedules::Part> PendingSchedules::take(collectives::Operation operation,
                                                               std::int64_t bytes, int root,
                                                               bool keeps_order) {
  std::unique_ptr<Part> part = cache_.take(operation, bytes, root, keeps_order);
  // A plan of more segments has its tags in no range; all ranks see that alike.
  if (part != nullptr && part->executor.tags_in_use() > TagSpace::pending_tags) part = nullptr;
  return part;
}

bool PendingSchedules::may_begin() {
  if (!space_.has_come()) return false;
  return turns_.empty() || waiting_.front()->turn.end - turns_.front() <= TagSpace::pending_tags;
}

PendingCall::~PendingCall() {
  if (ticket == none) return;
  for (const MPI_Datatype kept : types) let_type_go(kept);
  let_op_go(op);
  schedules->give_back(std::move(part));
  const std::lock_guard lock(calls().mutex);
  calls().free_tickets.push_back(ticket);
}

bool begin_pending_calls() {
  const bool is_hooked = has_pending_tags() && begin_progress_hook(advance);
  int may_be = is_hooked && begin_own_comm() ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &may_be, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  calls().may_be = may_be != 0;
  if (may_be != 0) {
    set_pending_tags_aside();
  } else if (is_hooked) {
    end_progress_hook(advance);
    end_own_comm();
  }
  return calls().may_be;
}

void end_pending_calls() {
  if (!std::exchange(calls().may_be, false)) return;
  end_progress_hook(advance);
  end_own_comm();
}

bool may_be_pending() {
  return calls().may_be;
}

void add(std::shared_ptr<PendingCall> call, MPI_Comm comm, const Way& way) {
  PendingCalls& p = calls();
  call->ticket = take_ticket(p);
  for (const MPI_Datatype type : call->types) keep_type(type);
  keep_op(call->op);
  if (!way.is_persistent) {
    call->turn = call->schedules->next_turn(call->part->executor.tags_in_use());
    check(PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, call->ticket, own_comm(), way.request));
    start(std::move(call));
    return;
  }
  call->own_space.emplace(TagSpace::begin(comm, facts_of(comm)));
  call->own_space->wait();
  check(PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, call->ticket, own_comm(), way.request));
  ++p.persistent_number;
  const std::lock_guard lock(p.mutex);
  p.persistent.emplace(key_of(*way.request), std::move(call));
}

void start_persistent_calls(int count, const MPI_Request requests[]) {
  PendingCalls& p = calls();
  if (p.persistent_number.load(std::memory_order_relaxed) == 0) return;
  for (int i = 0; i < count; ++i) {
    Call call;
    {
      const std::lock_guard lock(p.mutex);
      const auto found = p.persistent.find(key_of(requests[i]));
      if (found == p.persistent.end()) continue;
      call = found->second;
    }
    count_start(call->operation);
    start(std::move(call));
  }
}

void forget_persistent_call(MPI_Request request) {
  PendingCalls& p = calls();
  if (p.persistent_number.load(std::memory_order_relaxed) == 0) return;
  Call call;  // whose end takes the mutex, too
  const std::lock_guard lock(p.mutex);
  const auto found = p.persistent.find(key_of(request));
  if (found == p.persistent.end()) return;
  call = std::move(found->second);
  p.persistent.erase(found);
  --p.persistent_number;
}

void wait_for_tags(PendingSchedules& schedules) {
  PendingCalls& p = calls();
  for (bool has_come = false; !has_come;) {
    if (p.is_busy.test_and_set(std::memory_order_acquire)) continue;
    try {
      has_come = schedules.space().has_come();
    } catch (const MpiError&) {  // which ends the calls that want to begin
      has_come = true;
    }
    p.is_busy.clear(std::memory_order_release);
  }
}

}  // namespace ayatori::pmpi
