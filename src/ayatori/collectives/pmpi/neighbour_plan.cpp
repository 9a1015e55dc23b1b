#include "ayatori/collectives/pmpi/neighbour_plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace ayatori::pmpi {

namespace {

/// What the owner of a block says of it to its reader.
struct Word {
  int owner = MPI_PROC_NULL;
  int block = 0;  ///< number among those that the owner sends
  int taker = NeighbourPlan::no_taker;
  int place = 0;        ///< in the bundle
  int bundle_size = 0;  ///< blocks
};
constexpr int ints_of_word = sizeof(Word) / sizeof(int);

/// A word that has arrived, and which of the reader's blocks it is.
struct Arrival {
  Word word;
  int block;
};

class PlanMaker {
 public:
  PlanMaker(NeighbourKind kind, MPI_Comm comm, PmpiTransport& transport)
      : kind_(kind),
        comm_(comm),
        transport_(transport),
        space_(transport.space()),
        around_(neighbourhood_of(comm)) {}

  NeighbourPlan make() {
    plan_.sources = static_cast<int>(around_.sources.size());
    plan_.destinations = static_cast<int>(around_.destinations.size());
    const std::vector<Word> words = send_and_bundle();
    const std::vector<Arrival> arrivals = tell(words);
    for (const auto& [word, block] : arrivals) plan_.received.push_back({word.owner, block, word.taker});
    take(arrivals);
    share(arrivals);
    int bundles = plan_.bundles.empty() ? 0 : 1;
    check(PMPI_Allreduce(MPI_IN_PLACE, &bundles, 1, MPI_INT, MPI_MAX, comm_));
    plan_.anyone_bundles = bundles != 0;
    return std::move(plan_);
  }

 private:
  int node_of(int rank) const { return first_of_node(space_.target(rank)); }

  /// This rank's number on its node.
  int number_on_node() const {
    int number = 0;
    for (int rank = 0; rank < space_.rank(); ++rank)
      number += node_of(rank) == node_of(space_.rank()) ? 1 : 0;
    return number;
  }

  std::vector<Word> send_and_bundle() {
    std::map<int, std::vector<int>> blocks_for;  // by node
    for (int block = 0; block < plan_.destinations; ++block) {
      const int reader = around_.destinations[block];
      if (reader == MPI_PROC_NULL) continue;
      plan_.sent.push_back({reader, block, false});
      if (node_of(reader) != node_of(space_.rank())) blocks_for[node_of(reader)].push_back(block);
    }
    std::vector<Word> words;
    words.reserve(plan_.destinations + 1);  // MPICH wants an address where nothing is sent
    words.resize(plan_.destinations);
    for (int block = 0; block < plan_.destinations; ++block) words[block] = {space_.rank(), block};
    for (auto& [node, blocks] : blocks_for) {
      const auto size = static_cast<int>(blocks.size());
      if (size == 1) continue;
      const int taker = choose_taker(blocks);
      for (int place = 0; place < size; ++place)
        words[blocks[place]] = {space_.rank(), blocks[place], taker, place, size};
      plan_.bundles.push_back({taker, std::move(blocks)});
    }
    for (auto& sent : plan_.sent) sent.is_bundled = words[sent.block].taker != NeighbourPlan::no_taker;
    return words;
  }

  /// One of the readers: it knows how long blocks are where all are of one length. Ranks of a node choose
  /// different ones, so that the work is spread.
  int choose_taker(const std::vector<int>& blocks) const {
    std::vector<int> readers;
    for (const int block : blocks) readers.push_back(around_.destinations[block]);
    std::ranges::sort(readers);
    const auto [unneeded, end] = std::ranges::unique(readers);
    readers.erase(unneeded, end);
    return readers[number_on_node() % readers.size()];
  }

  /// MPICH 4.0.2 leaves out blocks in MPI_Neighbor_alltoallw; those that come do as in alltoallv.
  void exchange(const std::vector<Word>& words, std::vector<Word>& told) const {
    if (kind_ != NeighbourKind::neighbor_alltoallv && kind_ != NeighbourKind::neighbor_alltoallw) {
      check(PMPI_Neighbor_alltoall(words.data(), ints_of_word, MPI_INT, told.data(), ints_of_word, MPI_INT,
                                   comm_));
      return;
    }
    const int most = std::max(plan_.sources, plan_.destinations);
    const std::vector<int> counts(most + 1, ints_of_word);
    std::vector<int> places;
    for (int i = 0; i <= most; ++i) places.push_back(i * ints_of_word);
    check(PMPI_Neighbor_alltoallv(words.data(), counts.data(), places.data(), MPI_INT, told.data(),
                                  counts.data(), places.data(), MPI_INT, comm_));
  }

  std::vector<Arrival> tell(const std::vector<Word>& words) const {
    std::vector<Word> told(plan_.sources + 1);
    exchange(words, told);
    std::vector<Arrival> arrivals;
    for (int block = 0; block < plan_.sources; ++block) {
      if (around_.sources[block] != MPI_PROC_NULL) arrivals.push_back({told[block], block});
    }
    std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::tuple(a.word.owner, a.word.block); });
    return arrivals;
  }

  /// The bundles that this rank takes, and for whom their blocks are: what only their owners know.
  void take(const std::vector<Arrival>& arrivals) {
    constexpr int tag = TagSpace::of_pairs;
    transport_.begin(MPI_DATATYPE_NULL, MPI_OP_NULL);
    std::vector<std::vector<int>> readers_taken;
    for (const auto& [word, block] : arrivals) {
      if (word.taker != space_.rank()) continue;
      if (plan_.taken.empty() || plan_.taken.back().owner != word.owner) {
        plan_.taken.push_back({word.owner, {}});
        readers_taken.emplace_back(word.bundle_size);
      }
    }
    for (std::size_t i = 0; i < plan_.taken.size(); ++i)
      transport_.begin_receive(readers_taken[i].data(), std::ssize(readers_taken[i]), MPI_INT,
                               plan_.taken[i].owner, tag);
    std::vector<std::vector<int>> readers_told;
    for (const auto& bundle : plan_.bundles) {
      auto& readers = readers_told.emplace_back();
      for (const int block : bundle.blocks) readers.push_back(around_.destinations[block]);
      transport_.begin_send(readers.data(), std::ssize(readers), MPI_INT, bundle.taker, tag);
    }
    transport_.wait_all();
    std::map<int, NeighbourPlan::Deal> deals;  // by reader
    auto arrival = arrivals.begin();
    for (int i = 0; i < std::ssize(plan_.taken); ++i) {
      auto& [owner, readers] = plan_.taken[i];
      while (arrival->word.owner != owner) ++arrival;
      for (int place = 0; place < std::ssize(readers_taken[i]); ++place) {
        const int reader = readers_taken[i][place];
        const bool is_mine = reader == space_.rank();
        while (is_mine && arrival->word.place != place) ++arrival;
        readers.push_back({reader, is_mine ? arrival->block : 0});
        if (!is_mine) deals[reader].blocks.push_back({i, place});
      }
    }
    for (auto& [reader, deal] : deals) plan_.deals.push_back({reader, std::move(deal.blocks)});
  }

  void share(const std::vector<Arrival>& arrivals) {
    std::map<int, std::vector<int>> shares;  // by taker
    for (const auto& [word, block] : arrivals) {
      if (word.taker != NeighbourPlan::no_taker && word.taker != space_.rank())
        shares[word.taker].push_back(block);
    }
    for (auto& [taker, blocks] : shares) plan_.shares.push_back({taker, std::move(blocks)});
  }

  NeighbourKind kind_;
  MPI_Comm comm_;
  PmpiTransport& transport_;
  const TagSpace& space_;
  Neighbourhood around_;
  NeighbourPlan plan_;
};

}  // namespace

NeighbourPlan make_neighbour_plan(NeighbourKind kind, MPI_Comm comm, PmpiTransport& transport) {
  return PlanMaker(kind, comm, transport).make();
}

}  // namespace ayatori::pmpi
