#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/shared_memory/process_memory.hpp"

namespace ayatori::comm {

/// Who uses a channel.
class ChannelUser {
 public:
  virtual ~ChannelUser() = default;
  /// inout = in op inout, element by element.
  virtual void combine(const std::byte* in, std::byte* inout, std::int64_t count) = 0;
  /// Lets other messages proceed, whoever has begun them.
  virtual void poke() = 0;
};

/// What becomes of a message that arrives.
struct Landing {
  bool combines = false;        ///< with what is there, as the left operand; otherwise replaces it
  bool after_sends = false;     ///< pieces land when what is sent from there is on its way
  bool after_previous = false;  ///< pieces land when those of the receive begun before have
};

/// How a message gets to its receiver: through a cell, or straight out of the sender's memory.
enum class Copies { two, one };

/// Messages between ranks of a node through memory that all of them see. A message travels in pieces: the
/// sender copies a piece into a cell of its own memory, once for all peers that are sent the same, and each
/// of them takes it from there to where it belongs, or combines it with what is there, while the sender fills
/// the next cell. The least messages travel in the line that announces them. Where a single copy is asked
/// for, what goes to one peer stays where it is: the peer copies it out of the sender's memory, piece by
/// piece where it combines, and the sender waits until it has.
///
/// Messages of one rank to another arrive in the order in which they were begun. All that is begun before
/// finish() is a stage, and proceeds together: ranks that send to each other have it in the same stage, and
/// what lands after sends goes both ways in the same order.
class NodeChannel {
 public:
  /// What a rank provides on a node of this many ranks. It begins with zeros.
  static std::int64_t bytes(int ranks_of_node);

  /// Collective over the node's ranks, who find out whether they can read each other's memory. `parts`: the
  /// memory that they share, by their number on the node, on lines of the cache; `keeper` holds it.
  /// `numbers`: on the node, by rank; -1 for those of other nodes.
  NodeChannel(std::vector<std::byte*> parts, std::vector<int> numbers, int rank,
              std::shared_ptr<const void> keeper);

  bool reaches(int rank) const { return numbers_[rank] >= 0; }

  /// Elements of what is sent from now on: they are not cut. At most longest_element bytes.
  void set_element(std::int64_t bytes);
  static constexpr std::int64_t longest_element = 4096;
  /// Whether a single copy is possible: the kernel lets every rank of the node read every other's memory.
  bool can_copy_once() const { return memory_.is_readable(); }
  /// With more sends in a stage nothing may land after sends.
  static constexpr int most_sends_to_land_after = 16;

  /// The data stays as it is until finish(), but for what lands after sends. Nothing is no message. A single
  /// copy is made if it is possible, of at least least_single_copy bytes that go to one peer alone; and what
  /// the kernel does not copy after all, such as memory of a device, goes by cells.
  void begin_send(std::span<const std::byte> data, int rank, Copies copies = Copies::two);
  static constexpr std::int64_t least_single_copy = 4096;
  /// After sends, or after the previous receive, these have the very same place.
  void begin_receive(std::span<std::byte> data, int rank, Landing landing = {});
  /// Whether nothing is begun that is not finished; what a failure has left undone is so for ever.
  bool is_idle() const { return sends_.empty() && receives_.empty(); }
  /// Sends what there is room for.
  void start();
  /// All that was begun; the user is poked while nothing moves.
  void finish(ChannelUser& user);

 private:
  struct Slot;
  struct Cell;
  struct Consumed;
  /// Where things are in the memory of a rank.
  struct Geometry {
    explicit Geometry(std::int64_t ranks);

    std::int64_t bytes() const { return contents + cells * cell_bytes; }
    /// What a rank says of messages from another.
    Consumed& consumed(std::byte* part, int from) const;
    /// Slot of a rank's message to another.
    Slot& slot(std::byte* part, int to, std::uint32_t message) const;
    Cell& cell(std::byte* part, std::int64_t number) const;
    Introduction& introduction(std::byte* part) const;
    std::byte* content(std::byte* part, std::int64_t number) const;

    std::int64_t cells;
    std::int64_t cell_bytes;
    // Where they begin: what is said of others' messages, announcements, what is said of cells, and cells.
    std::int64_t consumptions;
    std::int64_t rings;
    std::int64_t headers;
    std::int64_t contents;
  };
  static constexpr std::ptrdiff_t no_send = -1;
  /// What goes to one or several peers.
  struct Send {
    const std::byte* data;
    std::int64_t length;
    std::int64_t begin;  ///< first of its peers
    std::int64_t end;
    bool is_single_copy = false;  ///< its peer takes it from there
    bool is_announced = false;    ///< to that peer
    std::int64_t moved = 0;       ///< what may be overwritten
  };
  struct Receive {
    std::byte* data;
    std::int64_t length;
    Landing landing;
    int peer;
    int turn;
    std::int64_t moved = 0;
    std::int64_t waiting = 0;  ///< bytes that come next, and were read, but may not land yet
  };
  /// One who is sent something: its number on the node.
  struct Peer {
    int number;
    int turn;  ///< its messages before this one
  };
  /// With one rank of the node. Messages are counted modulo 2^32.
  struct Link {
    std::uint32_t sent = 0;
    std::uint32_t consumed = 0;  ///< messages consumed among these, as far as is known
    std::uint32_t received = 0;
    bool is_refused = false;             ///< the kernel has not copied what it was sent
    std::ptrdiff_t last_send = no_send;  ///< last send of this stage
    int begun_sends = 0;                 ///< in this stage
    int ended_sends = 0;
    int begun_receives = 0;
    int ended_receives = 0;
  };

  std::span<const Peer> peers_of(const Send& send) const;
  bool may_announce(const Send& send);
  std::int64_t find_free_cell(const Send& send) const;
  bool advance(Send& send);
  bool advance_single_copy(Send& send);
  bool advance(Receive& receive, ChannelUser& user);
  void read_from_sender(Receive& receive, const Slot& slot);
  bool land(Receive& receive, ChannelUser& user);
  std::byte* beside(const Receive& receive);
  std::int64_t limit(const Receive& receive) const;
  void forget_stage();

  std::vector<std::byte*> parts_;
  std::vector<int> numbers_;
  int own_;
  std::shared_ptr<const void> keeper_;
  Geometry geometry_;
  ProcessMemory memory_;
  std::int64_t element_ = 1;
  std::int64_t shortest_piece_ = 1;  ///< but the last of a message
  std::int64_t longest_piece_ = 1;
  std::int64_t piece_beside_ = 1;  ///< longest that is read before it may land
  std::vector<Send> sends_;
  std::vector<Peer> peers_;  ///< peers of sends
  std::vector<Receive> receives_;
  std::vector<std::byte> beside_;  ///< by receive: what waits
  std::vector<Link> links_;
  std::vector<int> senders_;  ///< by cell: the send of this stage that has filled it; -1 for those before
};

/// Collective over both. A channel of ranks of `comm` which share memory: those of `node` (see
/// Comm::split_by_node). Null for a rank that is alone there, or if there is no memory to be had.
std::unique_ptr<NodeChannel> make_node_channel(const Comm& comm, const Comm& node);

}  // namespace ayatori::comm
