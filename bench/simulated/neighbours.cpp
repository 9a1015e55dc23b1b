// Exchanges among neighbours as libayatori_pmpi.so does them, straight or in bundles, and as MPIs do: on a
// simulated machine, by simulated seconds of the slowest rank. SMPI has no neighbourhood collectives; here
// are those of MPICH and Open MPI, which send every block in the order of the lists. Argument: a file of
// lines "FROM TO BYTES". Prints a line for every route: its name, the least microseconds of some calls.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <vector>

#include "ayatori/collectives/pmpi/neighbour_calls.hpp"
#include "ayatori/collectives/table.hpp"

namespace {

constexpr int tag = 1;

/// Blocks that this rank sends or receives.
struct Blocks {
  std::vector<int> ranks;
  std::vector<int> counts;
  std::vector<int> places;
  int bytes = 0;

  void add(int rank, int count) {
    ranks.push_back(rank);
    counts.push_back(count);
    places.push_back(bytes);
    bytes += count;
  }
};

/// Never freed: every simulated rank has its own.
Blocks sent;
Blocks received;

void exchange(const char* data, char* in, const Blocks& from, const Blocks& to, MPI_Comm comm) {
  std::vector<MPI_Request> requests(from.ranks.size() + to.ranks.size());
  auto request = requests.begin();
  for (std::size_t i = 0; i < to.ranks.size(); ++i)
    PMPI_Irecv(in + to.places[i], to.counts[i], MPI_BYTE, to.ranks[i], tag, comm, &*request++);
  for (std::size_t i = 0; i < from.ranks.size(); ++i)
    PMPI_Isend(data + from.places[i], from.counts[i], MPI_BYTE, from.ranks[i], tag, comm, &*request++);
  PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

extern "C" {

int PMPI_Comm_get_parent(MPI_Comm* parent) {
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int PMPI_Topo_test(MPI_Comm /*comm*/, int* topology) {
  *topology = MPI_DIST_GRAPH;
  return MPI_SUCCESS;
}

int PMPI_Dist_graph_neighbors_count(MPI_Comm /*comm*/, int* sources, int* destinations, int* is_weighted) {
  *sources = static_cast<int>(received.ranks.size());
  *destinations = static_cast<int>(sent.ranks.size());
  *is_weighted = 0;
  return MPI_SUCCESS;
}

int PMPI_Dist_graph_neighbors(MPI_Comm /*comm*/, int /*sources*/, int* from, int* /*from_weights*/,
                              int /*destinations*/, int* to, int* /*to_weights*/) {
  std::ranges::copy(received.ranks, from);
  std::ranges::copy(sent.ranks, to);
  return MPI_SUCCESS;
}

/// Exchanges bytes or ints that lie one after the other, as the library asks for.
int PMPI_Neighbor_alltoallv(const void* data, const int* counts, const int* /*places*/, MPI_Datatype type,
                            void* in, const int* in_counts, const int* /*in_places*/,
                            MPI_Datatype /*in_type*/, MPI_Comm comm) {
  int size = 1;
  PMPI_Type_size(type, &size);
  Blocks from;
  Blocks to;
  for (std::size_t i = 0; i < sent.ranks.size(); ++i) from.add(sent.ranks[i], counts[i] * size);
  for (std::size_t i = 0; i < received.ranks.size(); ++i) to.add(received.ranks[i], in_counts[i] * size);
  exchange(static_cast<const char*>(data), static_cast<char*>(in), from, to, comm);
  return MPI_SUCCESS;
}

}  // extern "C"

namespace {

using namespace ayatori::pmpi;

/// Sets what this rank sends and receives.
void read(const char* path, int rank) {
  std::ifstream file(path);
  int from = 0;
  int to = 0;
  int bytes = 0;
  std::map<int, int> sends;
  std::map<int, int> receives;
  while (file >> from >> to >> bytes) {
    if (from == rank) sends[to] = bytes;
    if (to == rank) receives[from] = bytes;
  }
  for (const auto& [reader, count] : sends) sent.add(reader, count);
  for (const auto& [owner, count] : receives) received.add(owner, count);
}

/// Least simulated seconds of the slowest rank. `call` gives whether it did what is asked for.
template <class F>
double time(F&& call, MPI_Comm comm) {
  constexpr int calls = 3;
  double least = 1e9;
  for (int i = 0; i < calls; ++i) {
    PMPI_Barrier(comm);
    const double begin = PMPI_Wtime();
    if (!call()) PMPI_Abort(comm, 1);
    double seconds = PMPI_Wtime() - begin;
    PMPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    least = std::min(least, seconds);
  }
  return least;
}

char letter(int from, int to, int i) {
  return static_cast<char>(from + 7 * to + 3 * i);
}

int run(const char* path) {
  int rank = 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  PMPI_Comm_rank(comm, &rank);
  read(path, rank);
  std::vector<char> data(sent.bytes + 1);
  for (std::size_t i = 0; i < sent.ranks.size(); ++i) {
    for (int k = 0; k < sent.counts[i]; ++k) data[sent.places[i] + k] = letter(rank, sent.ranks[i], k);
  }
  std::vector<char> in(received.bytes + 1);
  const auto is_right = [&] {
    bool right = true;
    for (std::size_t i = 0; i < received.ranks.size(); ++i) {
      for (int k = 0; k < received.counts[i]; ++k)
        right = right && in[received.places[i] + k] == letter(received.ranks[i], rank, k);
    }
    std::ranges::fill(in, 'x');
    return right;
  };
  const auto report = [&](const char* name, double seconds) {
    if (rank == 0) std::printf("%s %.6g\n", name, 1e6 * seconds);
  };
  report("mpi", time(
                    [&] {
                      exchange(data.data(), in.data(), sent, received, comm);
                      return true;
                    },
                    comm));
  for (const char* const route : {"straight", "bundled"}) {
    Settings settings;
    settings.neighbours = route;
    begin(settings, {});
    const auto call = [&] {
      NeighbourTurn turn(NeighbourKind::neighbor_alltoallv, comm);
      return by_schedule::neighbor_alltoallv(turn, data.data(), sent.counts.data(), sent.places.data(),
                                             MPI_BYTE, in.data(), received.counts.data(),
                                             received.places.data(), MPI_BYTE)
          .has_value();
    };
    call();  // makes the plan
    report(route, time(call, comm));
    if (!is_right()) PMPI_Abort(comm, 1);
    end();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = argc == 2 ? run(argv[1]) : 2;
  MPI_Finalize();
  return status;
}
