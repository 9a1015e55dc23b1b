#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ayatori/collectives/execution/schedule_cache.hpp"
#include "ayatori/collectives/pmpi/buffer.hpp"

// Collective calls that do not block, and persistent ones. Each goes on whenever the MPI looks for what has
// come (see progress_hook.hpp), so in every call of MPI that waits or tests, whatever for. The program holds
// a request of the MPI: that of a receive of nothing from itself, which a message ends when the call has
// ended. So all calls for requests do with it what they do with any other.

namespace ayatori::pmpi {

/// How a call is carried out.
struct Way {
  MPI_Request* request = nullptr;  ///< null: at once. Otherwise what it goes on behind, to be made
  bool is_persistent = false;      ///< whenever that is started
};

struct PendingCall;

/// The schedules of one communicator for such calls.
class PendingSchedules {
 public:
  /// Collective over `comm`, but waits for nobody. Throws MpiError.
  PendingSchedules(MPI_Comm comm, const CommFacts& facts, const collectives::ScheduleTable& table);

  int rank() const { return space_.rank(); }
  int size() const { return space_.size(); }
  TagSpace& space() { return space_; }

  using Part = collectives::ScheduleCache::Part;
  /// This rank's part of the schedule for a call, to be given back when that has ended; null where there is
  /// none.
  std::unique_ptr<Part> take(collectives::Operation operation, std::int64_t bytes, int root,
                             bool keeps_order);
  void give_back(std::unique_ptr<Part> part) { cache_.give_back(std::move(part)); }

  /// The tags of a call, counted without end: each has the next ones. They come again, so that a call waits
  /// for those before it which have its own.
  struct Turn {
    std::int64_t begin;
    std::int64_t end;
  };
  /// The same on all ranks, as the order of calls is.
  Turn next_turn(int tags) {
    const std::int64_t begin = std::exchange(next_tag_, next_tag_ + tags);
    return {begin, next_tag_};
  }
  // By one thread at a time.
  /// Calls that have not begun, in the order of turns.
  std::deque<std::shared_ptr<PendingCall>>& waiting() { return waiting_; }
  /// Whether the first of these may begin. Throws MpiError.
  bool may_begin();
  void enter(const Turn& turn) { turns_.push_back(turn.begin); }
  void leave(const Turn& turn) { turns_.erase(std::ranges::find(turns_, turn.begin)); }

 private:
  TagSpace space_;
  collectives::ScheduleCache cache_;
  std::int64_t next_tag_ = 0;
  std::deque<std::shared_ptr<PendingCall>> waiting_;
  std::deque<std::int64_t> turns_;  ///< where calls begin that have begun and not ended
};

/// Where a call works.
struct Room {
  int rank;
  int size;
  std::byte* data;
  collectives::BlockBegins begins;
  const CommSchedules* now;  ///< schedules of calls that block
};
using RoomStep = std::function<void(const Room&)>;

/// Made for one request; by add() it comes under way.
struct PendingCall {
  ~PendingCall();

  collectives::Operation operation{};
  std::shared_ptr<PendingSchedules> schedules = {};  ///< stay when the program frees the communicator
  std::unique_ptr<PendingSchedules::Part> part = {};
  collectives::Elements elements{};
  std::vector<std::int64_t> begins = {};  ///< those of `elements`
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< type of calls that reduce
  MPI_Op op = MPI_OP_NULL;
  std::vector<MPI_Datatype> types = {};  ///< all that it uses; kept by add(), like `op`
  std::vector<std::byte> scratch = {};
  std::byte* data = nullptr;  ///< data of the program, or `scratch`
  RoomStep before = {};       ///< brings what this rank contributes
  RoomStep after = {};        ///< takes the result

  std::optional<TagSpace> own_space = {};  ///< tags of a persistent call: ranks may start such in any order
  PendingSchedules::Turn turn = {};        ///< turn of other calls
  int ticket = none;                       ///< tag of the message that ends the request
  std::size_t place = 0;                   ///< among those that are under way
  bool has_failed = false;

  static constexpr int none = -1;
  Room room() { return {schedules->rank(), schedules->size(), data, elements.begins, nullptr}; }
  TagSpace& space() { return own_space ? *own_space : schedules->space(); }
};

/// Collective over MPI_COMM_WORLD, once there is the private communicator: whether such calls can go by
/// schedules, the same on all ranks.
bool begin_pending_calls();
void end_pending_calls();
bool may_be_pending();

/// Collective over `comm`. Makes the request, and begins the call unless that is persistent. Throws MpiError.
void add(std::shared_ptr<PendingCall> call, MPI_Comm comm, const Way& way);

/// Begins the persistent calls behind requests that the MPI has started.
void start_persistent_calls(int count, const MPI_Request requests[]);
/// Forgets the call behind a request that the program frees.
void forget_persistent_call(MPI_Request request);

/// Collective over a communicator, before it is freed: Open MPI crashes when it frees one on which a call of
/// its own is under way.
void wait_for_tags(PendingSchedules& schedules);

}  // namespace ayatori::pmpi
