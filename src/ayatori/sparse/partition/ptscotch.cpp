#ifdef AYATORI_HAS_PTSCOTCH

#include <ptscotch.h>

#include <limits>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi/fortran_handle.hpp"
#include "ayatori/sparse/partition/partitioner.hpp"

namespace ayatori::sparse {

namespace {

/// The graph and what belongs to it; made and freed by all ranks.
class Scotch {
 public:
  explicit Scotch(const comm::Comm& comm) : comm_(comm.duplicate()) {
    SCOTCH_contextInit(&context_);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1);
    SCOTCH_contextThreadSpawn(&context_, 1, nullptr);
    SCOTCH_contextRandomSeed(&context_, 1);
    SCOTCH_contextRandomReset(&context_);
    SCOTCH_dgraphInit(&graph_, MPI_Comm_f2c(comm::fortran_handle(comm_)));
    SCOTCH_stratInit(&strategy_);
  }
  ~Scotch() {
    if (is_bound_) SCOTCH_dgraphExit(&bound_);
    SCOTCH_stratExit(&strategy_);
    SCOTCH_dgraphExit(&graph_);
    SCOTCH_contextExit(&context_);
  }
  Scotch(const Scotch&) = delete;
  Scotch& operator=(const Scotch&) = delete;

  /// Collective. The part of each row; throws EnvironmentError. No array may be without memory, not even on a
  /// rank without rows: PT-Scotch takes its address for one that was left out, and waits for ever.
  std::vector<SCOTCH_Num> cut(std::vector<SCOTCH_Num>& starts, std::vector<SCOTCH_Num>& neighbours,
                              std::vector<SCOTCH_Num>& weights) {
    const auto rows = static_cast<SCOTCH_Num>(weights.size());
    const auto edges = static_cast<SCOTCH_Num>(neighbours.size());
    std::vector<SCOTCH_Num> part(weights.size() + 1, 0);
    check("dgraphBuild",
          SCOTCH_dgraphBuild(&graph_, 0, rows, rows, starts.data(), starts.data() + 1, weights.data(),
                             nullptr, edges, edges, neighbours.data(), nullptr, nullptr));
    check("contextBindDgraph", SCOTCH_contextBindDgraph(&context_, &graph_, &bound_));
    is_bound_ = true;
    check("dgraphPart", SCOTCH_dgraphPart(&bound_, comm_.size(), &strategy_, part.data()));
    part.pop_back();
    return part;
  }

 private:
  void check(const char* call, int code) const {
    if (comm_.any(code != 0))
      throw EnvironmentError(
          fmt::format("PT-Scotch could not partition the graph ({}): use the contiguous partition", call));
  }

  comm::Comm comm_;
  SCOTCH_Context context_;
  SCOTCH_Dgraph graph_;
  SCOTCH_Dgraph bound_;
  SCOTCH_Strat strategy_;
  bool is_bound_ = false;
};

std::vector<std::int32_t> parts(const comm::Comm& comm, const DistributedGraph& graph) {
  std::vector<SCOTCH_Num> starts;
  std::vector<SCOTCH_Num> neighbours;
  std::vector<SCOTCH_Num> weights;
  comm::agree(comm, [&] {
    if (graph.edges + 2 * graph.rows.rows() > std::numeric_limits<SCOTCH_Num>::max()) {
      throw EnvironmentError(fmt::format(
          "a graph of {} edges exceeds PT-Scotch's index type: use the contiguous partition", graph.edges));
    }
    neighbours.reserve(graph.neighbours.size() + 1);
    weights.reserve(graph.weights.size() + 1);
    starts.assign(graph.starts.begin(), graph.starts.end());
    neighbours.assign(graph.neighbours.begin(), graph.neighbours.end());
    weights.assign(graph.weights.begin(), graph.weights.end());
  });
  Scotch scotch(comm);
  const auto part = scotch.cut(starts, neighbours, weights);
  return comm::agree(comm, [&] { return std::vector<std::int32_t>(part.begin(), part.end()); });
}

}  // namespace

const Partitioner ptscotch_partitioner{"ptscotch", "multilevel, on all ranks; none holds the graph",
                                       std::numeric_limits<std::int64_t>::max(), parts};

}  // namespace ayatori::sparse

#endif
