// Neighbourhood collectives of the library that is put before the MPI against the MPI's own, which are still
// there by their PMPI names: on grids and graphs of many kinds, with blocks of many lengths and types. Says
// nothing, or what was wrong first. Arguments:
//   neighbours all N P     N random graphs; ranks say that they are on nodes of P ranks
//   neighbours count P     on rank 0: messages of a rank to other nodes, in calls among all, straight or not
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/pmpi/ranks.hpp"

namespace {

int ranks_per_node = 1;
int messages = 0;  ///< messages of this rank to other nodes
/// Whether MPI_Neighbor_alltoallw is right, or not the MPI's: MPICH 4.0.2 leaves out blocks.
bool has_alltoallw = true;

void count_message(int to, MPI_Comm comm) {
  if (to != MPI_PROC_NULL && to / ranks_per_node != rank_in(comm) / ranks_per_node) ++messages;
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Found before those of the MPI, which they call. The library sends by a communicator of all ranks.
extern "C" {

int PMPI_Comm_split_type(MPI_Comm comm, int /*type*/, int key, MPI_Info /*info*/, MPI_Comm* made) {
  return MPI_Comm_split(comm, rank_in(MPI_COMM_WORLD) / ranks_per_node, key, made);
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  count_message(to, comm);
  return next<decltype(PMPI_Isend)>("PMPI_Isend")(data, count, type, to, tag, comm, request);
}

#if MPI_VERSION >= 4
int PMPI_Isend_c(const void* data, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  count_message(to, comm);
  return next<decltype(PMPI_Isend_c)>("PMPI_Isend_c")(data, count, type, to, tag, comm, request);
}
#endif

}  // extern "C"

namespace {

void expect(bool is_right, const std::string& what) {
  if (is_right) return;
  std::fprintf(stderr, "rank %d of the world: wrong: %s\n", rank_in(MPI_COMM_WORLD), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Blocks that this rank receives and sends.
struct Degrees {
  int in = 0;
  int out = 0;
};

/// The same seed on all ranks: everyone draws what all of them do.
using Draws = std::mt19937;

int draw(Draws& draws, int end) {
  return static_cast<int>(draws() % static_cast<unsigned>(end));
}

/// An MPI_INT, a hole, an MPI_INT, a hole.
MPI_Datatype with_holes = MPI_DATATYPE_NULL;

void make_type() {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 16, &with_holes);
  MPI_Type_commit(&with_holes);
  MPI_Type_free(&vector);
}

/// What a rank hands in: blocks of pairs of ints, as `count` elements of a type each.
struct Side {
  std::vector<int> counts;
  std::vector<int> places;      ///< in elements
  std::vector<MPI_Aint> bytes;  ///< places in bytes
  std::vector<MPI_Datatype> types;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int size = 0;  ///< ints with room for all

  /// Blocks of pairs of ints; there are spare elements before each.
  Side(const std::vector<int>& pairs, bool has_holes) : type(has_holes ? with_holes : MPI_INT) {
    const int ints_of_element = has_holes ? 4 : 1;
    int place = 0;
    counts.reserve(pairs.size() + 1);  // an MPI wants addresses where nothing is
    places.reserve(pairs.size() + 1);
    bytes.reserve(pairs.size() + 1);
    types.reserve(pairs.size() + 1);
    for (const int number : pairs) {
      counts.push_back(has_holes ? number : 2 * number);
      places.push_back(++place);
      bytes.push_back(place * ints_of_element * MPI_Aint{sizeof(int)});
      types.push_back(type);
      place += counts.back();
    }
    size = (place + 1) * ints_of_element;
  }
};

std::vector<int> filled(int size, int begin) {
  std::vector<int> data(size);
  std::iota(data.begin(), data.end(), begin);
  return data;
}

/// A call by the library and by the MPI: both leave the same, in holes, too.
template <class Ours, class Mpi>
void compare(const Side& to, const char* what, Ours&& ours, Mpi&& mpi) {
  std::vector<int> by_us(to.size, -7);
  std::vector<int> by_mpi(to.size, -7);
  expect(ours(by_us.data()) == MPI_SUCCESS, what);
  mpi(by_mpi.data());
  expect(by_us == by_mpi, what);
}

/// Pairs of ints of every block from one rank to another; drawn alike on both.
int length_between(int seed, int from, int to) {
  static const int lengths[] = {0, 1, 3, 40, 511, 512, 513, 2000, 3, 17, 1, 5};
  return lengths[static_cast<unsigned>(seed + 5 * from + 3 * to + from * to) % std::size(lengths)];
}

/// The owner of every block that comes. By the MPI alone, so that no call of the library is taken for
/// granted.
std::vector<int> owners_of(MPI_Comm comm, Degrees degrees) {
  const std::vector<int> sent(degrees.out + 1, rank_in(comm));
  std::vector<int> owners(degrees.in + 1, MPI_PROC_NULL);
  PMPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, owners.data(), 1, MPI_INT, comm);
  owners.pop_back();
  return owners;
}

void all_calls(MPI_Comm comm, Degrees degrees, const std::vector<int>& readers, int seed) {
  const int me = rank_in(comm);
  const std::vector<int> owners = owners_of(comm, degrees);
  const auto length = [&](int from, int to) {
    return from == MPI_PROC_NULL || to == MPI_PROC_NULL ? 2 : length_between(seed, from, to);
  };
  const int even = length_between(seed, 0, 0);
  const bool has_holes = seed % 3 == 0;
  const bool receives_holes = (seed + me) % 4 == 0;
  const auto side_of = [&](int blocks, bool holes, auto&& length_of) {
    std::vector<int> lengths(blocks);
    for (int i = 0; i < blocks; ++i) lengths[i] = length_of(i);
    return Side(lengths, holes);
  };
  {
    const Side from = side_of(1, has_holes, [&](int) { return even; });
    const Side to = side_of(degrees.in, receives_holes, [&](int) { return even; });
    const std::vector<int> data = filled(from.size, 100000 * me);
    const int count = receives_holes ? even : 2 * even;
    compare(
        to, "an allgather",
        [&](int* out) {
          return MPI_Neighbor_allgather(data.data(), from.counts[0], from.type, out, count, to.type, comm);
        },
        [&](int* out) {
          PMPI_Neighbor_allgather(data.data(), from.counts[0], from.type, out, count, to.type, comm);
        });
  }
  {
    const Side from = side_of(degrees.out, has_holes, [&](int) { return even; });
    const Side to = side_of(degrees.in, receives_holes, [&](int) { return even; });
    const std::vector<int> data = filled(from.size, 100000 * me);
    const int sent = has_holes ? even : 2 * even;
    const int count = receives_holes ? even : 2 * even;
    compare(
        to, "an alltoall",
        [&](int* out) {
          return MPI_Neighbor_alltoall(data.data(), sent, from.type, out, count, to.type, comm);
        },
        [&](int* out) { PMPI_Neighbor_alltoall(data.data(), sent, from.type, out, count, to.type, comm); });
  }
  {
    const Side from = side_of(1, has_holes, [&](int) { return length(me, 0); });
    const Side to = side_of(degrees.in, receives_holes, [&](int i) { return length(owners[i], 0); });
    const std::vector<int> data = filled(from.size, 100000 * me);
    compare(
        to, "an allgatherv",
        [&](int* out) {
          return MPI_Neighbor_allgatherv(data.data(), from.counts[0], from.type, out, to.counts.data(),
                                         to.places.data(), to.type, comm);
        },
        [&](int* out) {
          PMPI_Neighbor_allgatherv(data.data(), from.counts[0], from.type, out, to.counts.data(),
                                   to.places.data(), to.type, comm);
        });
  }
  const Side from = side_of(degrees.out, has_holes, [&](int i) { return length(me, readers[i]); });
  const Side to = side_of(degrees.in, receives_holes, [&](int i) { return length(owners[i], me); });
  const std::vector<int> data = filled(from.size, 100000 * me);
  compare(
      to, "an alltoallv",
      [&](int* out) {
        return MPI_Neighbor_alltoallv(data.data(), from.counts.data(), from.places.data(), from.type, out,
                                      to.counts.data(), to.places.data(), to.type, comm);
      },
      [&](int* out) {
        PMPI_Neighbor_alltoallv(data.data(), from.counts.data(), from.places.data(), from.type, out,
                                to.counts.data(), to.places.data(), to.type, comm);
      });
  if (!has_alltoallw) return;
  // Addresses instead of a buffer.
  std::vector<MPI_Aint> addresses(from.bytes);
  MPI_Aint begin = 0;
  MPI_Get_address(data.data(), &begin);
  for (MPI_Aint& address : addresses) address += begin;
  const bool is_bottom = seed % 2 == 0 && !addresses.empty() && has_holes;
  const void* const buffer = is_bottom ? MPI_BOTTOM : data.data();
  const MPI_Aint* const places = is_bottom ? addresses.data() : from.bytes.data();
  compare(
      to, "an alltoallw",
      [&](int* out) {
        return MPI_Neighbor_alltoallw(buffer, from.counts.data(), places, from.types.data(), out,
                                      to.counts.data(), to.bytes.data(), to.types.data(), comm);
      },
      [&](int* out) {
        PMPI_Neighbor_alltoallv(data.data(), from.counts.data(), from.places.data(), from.type, out,
                                to.counts.data(), to.places.data(), to.type, comm);
      });
}

constexpr int most_seeds = 12;  ///< all lengths

void serve(MPI_Comm comm, Degrees degrees, const std::vector<int>& readers) {
  for (int seed = 0; seed < most_seeds; ++seed) all_calls(comm, degrees, readers, seed);
}

/// Edges from every rank, drawn alike on all: to itself, too, and some twice; some ranks have none.
std::vector<std::vector<int>> random_edges(Draws& draws, int size) {
  std::vector<std::vector<int>> readers(size);
  const int most = 1 + draw(draws, 3 * size);
  for (auto& list : readers) {
    list.reserve(1);
    const int degree = draw(draws, 4) == 0 ? 0 : draw(draws, most + 1);
    for (int i = 0; i < degree; ++i) list.push_back(draw(draws, size));
  }
  return readers;
}

void random_graph(MPI_Comm parent, Draws& draws) {
  const int me = rank_in(parent);
  const std::vector<std::vector<int>> readers = random_edges(draws, size_of(parent));
  std::vector<int> owners;
  owners.reserve(1);
  for (int rank = 0; rank < size_of(parent); ++rank) {
    for (const int reader : readers[rank]) {
      if (reader == me) owners.push_back(rank);
    }
  }
  // Neighbours of both ends in any order, but several edges between two ranks in that of both lists.
  if (draw(draws, 2) == 0) std::ranges::reverse(owners);
  MPI_Comm comm = MPI_COMM_NULL;
  const auto out = static_cast<int>(readers[me].size());
  const bool is_adjacent = draw(draws, 2) == 0;
  MPI_Barrier(
      parent);  // MPI_Dist_graph_create of Open MPI 4.1.4 may hang where ranks come at different times
  if (is_adjacent)
    MPI_Dist_graph_create_adjacent(parent, static_cast<int>(owners.size()), owners.data(), MPI_UNWEIGHTED,
                                   out, readers[me].data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  else
    MPI_Dist_graph_create(parent, 1, &me, &out, readers[me].data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  Degrees degrees;
  int is_weighted = 0;
  MPI_Dist_graph_neighbors_count(comm, &degrees.in, &degrees.out, &is_weighted);
  std::vector<int> from(degrees.in + 1);
  std::vector<int> to(degrees.out + 1);
  MPI_Dist_graph_neighbors(comm, degrees.in, from.data(), MPI_UNWEIGHTED, degrees.out, to.data(),
                           MPI_UNWEIGHTED);
  serve(comm, degrees, to);
  MPI_Comm_free(&comm);
}

/// The edges of a random graph, both ways.
void old_graph(MPI_Comm parent, Draws& draws) {
  const int size = size_of(parent);
  std::vector<std::vector<int>> readers(size);
  for (int edge = draw(draws, 2 * size); edge > 0; --edge) {
    const int a = draw(draws, size);
    const int b = draw(draws, size);
    readers[a].push_back(b);
    if (a != b) readers[b].push_back(a);
  }
  std::vector<int> ends;
  std::vector<int> edges;
  for (const auto& list : readers) {
    edges.insert(edges.end(), list.begin(), list.end());
    ends.push_back(static_cast<int>(edges.size()));
  }
  edges.push_back(0);  // an MPI wants an address
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Graph_create(parent, size, ends.data(), edges.data(), 0, &comm);
  const auto& mine = readers[rank_in(parent)];
  const auto degree = static_cast<int>(mine.size());
  serve(comm, {degree, degree}, mine);
  MPI_Comm_free(&comm);
}

void grid(MPI_Comm parent, std::vector<int> lengths, std::vector<int> are_periodic) {
  MPI_Dims_create(size_of(parent), static_cast<int>(lengths.size()), lengths.data());
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(parent, static_cast<int>(lengths.size()), lengths.data(), are_periodic.data(), 0, &comm);
  std::vector<int> readers;
  for (int d = 0; d < std::ssize(lengths); ++d) {
    int before = MPI_PROC_NULL;
    int after = MPI_PROC_NULL;
    MPI_Cart_shift(comm, d, 1, &before, &after);
    readers.insert(readers.end(), {before, after});
  }
  const auto degree = static_cast<int>(readers.size());
  MPI_Comm again = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &again);
  serve(again, {degree, degree}, readers);
  MPI_Comm_free(&again);
  MPI_Comm_free(&comm);
}

/// Errors are the MPI's; a communicator without a topology has one, which Open MPI hands to MPI_COMM_WORLD.
void errors() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int one = 1;
  std::vector<int> all(size_of(comm) + 1);
  for (int call = 0; call < 6; ++call) {
    expect(MPI_Neighbor_allgather(&one, 1, MPI_INT, all.data(), 1, MPI_INT, comm) != MPI_SUCCESS,
           "a call without neighbours");
  }
  MPI_Comm_free(&comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

void everything(int graphs) {
  Draws draws(17);
  for (int i = 0; i < graphs; ++i) random_graph(MPI_COMM_WORLD, draws);
  for (int i = 0; i < graphs; ++i) old_graph(MPI_COMM_WORLD, draws);
  MPI_Comm part = MPI_COMM_NULL;
  const int me = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, me % 3 == 0 ? 1 : 0, -me, &part);
  random_graph(part, draws);
  MPI_Comm_free(&part);
  grid(MPI_COMM_WORLD, {0}, {0});
  grid(MPI_COMM_WORLD, {0}, {1});
  grid(MPI_COMM_WORLD, {0, 0}, {1, 0});
  grid(MPI_COMM_WORLD, {0, 0, 0}, {1, 1, 1});
  errors();
}

/// Among all ranks.
void count() {
  const int size = size_of(MPI_COMM_WORLD);
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, all.data(), MPI_UNWEIGHTED, size, all.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  constexpr int calls = 10;
  std::vector<int> in(size);
  for (int call = 0; call < calls + 1; ++call) {
    if (call == 1) messages = 0;  // the first one makes the plan
    MPI_Neighbor_alltoall(all.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  }
  if (rank_in(comm) == 0) std::printf("%d messages of %d calls\n", messages, calls);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "all";
  ranks_per_node = std::atoi(argv[argc - 1]);
  MPI_Init(&argc, &argv);
#ifndef OPEN_MPI
  const char* const route = std::getenv("AYATORI_NEIGHBOURS");
  has_alltoallw =
      route != nullptr && (std::strcmp(route, "straight") == 0 || std::strcmp(route, "bundled") == 0);
#endif
  make_type();
  if (mode == "all")
    everything(std::atoi(argv[2]));
  else
    count();
  MPI_Type_free(&with_holes);
  MPI_Finalize();
  return 0;
}
