#include "ayatori/collectives/pmpi/messages/node_memory.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "ayatori/collectives/pmpi/messages/transport.hpp"
#include "ayatori/comm/shared_memory/mapped_memory.hpp"

namespace ayatori::pmpi {

namespace {

/// A process shares as much, of its own, with all communicators together: on nodes of few ranks it is half a
/// megabyte for one.
constexpr std::int64_t most_bytes = std::int64_t{32} << 20;
std::atomic<std::int64_t> shared_bytes{0};

/// A process's part of what it shares, while it has that.
class Share {
 public:
  explicit Share(std::int64_t bytes)
      : bytes_(bytes), fits_(shared_bytes.fetch_add(bytes) + bytes <= most_bytes) {}
  ~Share() { shared_bytes -= bytes_; }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  bool fits() const { return fits_; }

 private:
  std::int64_t bytes_;
  bool fits_;
};

struct NodeMemory {
  explicit NodeMemory(std::int64_t bytes) : share(bytes) {}
  Share share;
  std::optional<comm::MappedMemory> memory = std::nullopt;
};

/// Some ranks of a tag space, and which of them this one is.
struct Members {
  std::vector<int> ranks;
  int own = 0;
};

Members on_this_node(const TagSpace& space) {
  Members members;
  const int node = first_of_node(space.target(space.rank()));
  for (int rank = 0; rank < space.size(); ++rank) {
    if (first_of_node(space.target(rank)) != node) continue;
    if (rank == space.rank()) members.own = static_cast<int>(members.ranks.size());
    members.ranks.push_back(rank);
  }
  return members;
}

void send(const TagSpace& space, std::span<const std::int64_t> numbers, int rank) {
  check(PMPI_Send(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, space.target(rank),
                  space.tag_to(rank, TagSpace::on_node), private_comm()));
}

void receive(const TagSpace& space, std::span<std::int64_t> numbers, int rank) {
  check(PMPI_Recv(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, space.target(rank),
                  space.tag_from_any(TagSpace::on_node), private_comm(), MPI_STATUS_IGNORE));
}

/// Collective over the members: by the first one of them.
std::vector<std::int64_t> tell(const TagSpace& space, const Members& members, std::int64_t mine) {
  const std::vector<int>& ranks = members.ranks;
  std::vector<std::int64_t> all(ranks.size());
  all[members.own] = mine;
  if (members.own != 0) {
    send(space, std::span(&mine, 1), ranks[0]);
    receive(space, all, ranks[0]);
    return all;
  }
  for (std::size_t k = 1; k < ranks.size(); ++k) receive(space, std::span(all).subspan(k, 1), ranks[k]);
  for (std::size_t k = 1; k < ranks.size(); ++k) send(space, all, ranks[k]);
  return all;
}

/// By one process of a node.
void say_once(const TagSpace& space) {
  static std::atomic<bool> is_said = false;
  const int own = space.target(space.rank());
  if (first_of_node(own) == own && !is_said.exchange(true))
    say("ranks of a node get no memory that they share: their messages go by the MPI");
}

}  // namespace

std::unique_ptr<comm::NodeChannel> make_node_channel(const TagSpace& space) {
  const Members members = on_this_node(space);
  const auto ranks = static_cast<int>(members.ranks.size());
#ifdef AYATORI_SMPI
  constexpr bool may_share =
      false;  // simulated ranks take turns: one that looks at memory until it changes waits for ever
#else
  constexpr bool may_share = true;
#endif
  if (ranks == 1 || !may_share) return nullptr;
  const auto tell_all = [&](std::int64_t mine) { return tell(space, members, mine); };
  const std::int64_t bytes = comm::NodeChannel::bytes(ranks);
  const auto node = std::make_shared<NodeMemory>(bytes);
  if (std::ranges::min(tell_all(node->share.fits() ? 1 : 0)) == 0) return nullptr;
  node->memory = comm::MappedMemory::make(members.own, bytes, tell_all);
  if (!node->memory) {
    say_once(space);
    return nullptr;
  }
  std::vector<std::byte*> parts;
  std::vector<int> numbers(space.size(), -1);
  for (const int rank : members.ranks) {
    numbers[rank] = static_cast<int>(parts.size());
    parts.push_back(node->memory->part(numbers[rank]));
  }
  return std::make_unique<comm::NodeChannel>(std::move(parts), std::move(numbers), space.rank(), node);
}

}  // namespace ayatori::pmpi
