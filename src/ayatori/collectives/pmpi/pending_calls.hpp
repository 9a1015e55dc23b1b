#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ayatori/collectives/pmpi/buffer.hpp"
#include "ayatori/collectives/pmpi/comm_schedules.hpp"

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

/// Where a call works.
struct Room {
  const CommSchedules& s;
  std::byte* data;
  collectives::BlockBegins begins;
  Copying copying;
};
using RoomStep = std::function<void(const Room&)>;

/// Made for one request; by add() it comes under way.
struct PendingCall {
  ~PendingCall();

  collectives::Operation operation{};
  std::shared_ptr<CommSchedules> schedules = {};  ///< stay when the program frees the communicator
  std::unique_ptr<CommSchedules::Part> part = {};
  collectives::Elements elements{};
  std::vector<std::int64_t> begins = {};  ///< those of `elements`
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< of calls that reduce
  MPI_Op op = MPI_OP_NULL;
  std::vector<MPI_Datatype> types = {};  ///< all that it uses; kept by add(), like `op`
  std::vector<std::byte> scratch = {};
  std::byte* data = nullptr;  ///< of the program, or `scratch`
  RoomStep before = {};       ///< brings what this rank contributes
  RoomStep after = {};        ///< takes the result

  std::optional<TagSpace> own_space = {};  ///< of a persistent one: ranks may start such in any order
  CommSchedules::Turn turn = {};           ///< of others
  int ticket = none;                       ///< tag of the message that ends the request
  std::size_t place = 0;                   ///< among those that are under way
  bool has_failed = false;

  static constexpr int none = -1;
  Room room() { return {*schedules, data, elements.begins, Copying::without_waiting}; }
  const TagSpace& space() const { return own_space ? *own_space : schedules->space(); }
};

/// Collective over MPI_COMM_WORLD: whether such calls can go by schedules, the same on all ranks.
bool begin_pending_calls();
void end_pending_calls();
bool may_be_pending();

/// Collective over `comm`. Makes the request, and begins the call unless that is persistent. Throws MpiError.
void add(std::shared_ptr<PendingCall> call, MPI_Comm comm, const Way& way);

/// Of requests that the MPI has started: begins the persistent calls behind them.
void start_persistent_calls(int count, const MPI_Request requests[]);
/// Of a request that the program frees.
void forget_persistent_call(MPI_Request request);

/// Waits until the tags of a communicator have come: a call on it has asked for them.
void wait_for_tags(CommSchedules& schedules);

}  // namespace ayatori::pmpi
