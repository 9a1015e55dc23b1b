#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"

namespace ayatori::sparse {

/// What the ranks must tell each other before a matrix-vector product: plain data, the same for every
/// strategy. A ghost is an element of x that this rank's rows refer to and another rank owns; ghosts are
/// numbered in ascending global order, hence grouped by owner.
struct HaloPlan {
  using Neighbour = comm::Neighbour;  ///< a piece of `ghosts` (receiving) or of `send_index` (sending)

  std::int32_t local_size = 0;          ///< elements of x that this rank owns
  std::vector<std::int64_t> ghosts;     ///< global numbers of the ghosts
  std::vector<Neighbour> receive_from;  ///< ascending rank
  std::vector<Neighbour> send_to;       ///< ascending rank
  Array<std::int32_t> send_index;       ///< local numbers of the elements to send, grouped by receiver

  std::int64_t messages() const { return static_cast<std::int64_t>(send_to.size()); }
  std::int64_t bytes_sent() const { return 8 * static_cast<std::int64_t>(send_index.size()); }
};

/// Collective. The plan for a rank that needs these ghosts (ascending, unique, none of its own).
HaloPlan make_halo_plan(const comm::Comm& comm, const RowPartition& partition,
                        std::vector<std::int64_t> ghosts);

/// A message of an exchange, as the rank at one of its ends sees it. All messages of a stage are under way
/// together; what they send is what the rank has when the stage begins.
struct HaloMessage {
  int stage;
  bool is_sent;
  int peer;
  std::vector<std::int64_t> elements;  ///< elements of x, by their global numbers, ascending
};

/// A way to carry out a plan. Built once, used for every product.
class HaloExchange {
 public:
  virtual ~HaloExchange() = default;

  /// Collective. Starts to send this rank's elements of x. Until finish(), x stays as it is.
  virtual void begin(std::span<const double> x) = 0;

  /// Collective. Completes what begin() started and gives the ghosts, in plan order; valid until the next
  /// begin().
  virtual std::span<const double> finish() = 0;

  /// What this rank sends and receives in an exchange, by ascending stages; nothing where a strategy leaves
  /// that to the MPI, or has no stages.
  virtual std::optional<std::vector<HaloMessage>> messages() const { return std::nullopt; }
};

/// What one exchange asks of a rank, as far as the plan tells: for comparing strategies without trying them.
struct HaloTraffic {
  double messages;  ///< started or received, the larger of the two
  double bytes;     ///< sent or received, the larger of the two
};

/// An entry in the list of strategies. `make` is collective: it may set up communication of its own, and what
/// fails on one rank fails on all (comm::agree). The exchange refers to plan and partition, and is
/// destroyed by all ranks together.
/// `traffic` is not collective, costs no communication; where nodes matter, which the plan does not know, it
/// is a lower bound.
struct HaloType {
  std::string_view name;
  std::string_view description;
  std::unique_ptr<HaloExchange> (*make)(const comm::Comm& comm, const RowPartition& partition,
                                        const HaloPlan& plan);
  HaloTraffic (*traffic)(const HaloPlan& plan, const RowPartition& partition);
};

/// Every halo strategy. Adding one is a file in halo/ and a line in halo/list.cpp. Each can also be asked to
/// overlap the interior product with the transfer: "<name>+overlap".
std::span<const HaloType> halo_strategies();

/// A strategy and whether the interior product runs between begin() and finish().
struct HaloChoice {
  const HaloType* type;
  bool overlap;
};

/// The strategy of this name, with or without "+overlap". Throws InputError that lists the names.
HaloChoice halo_strategy(std::string_view name);

}  // namespace ayatori::sparse
