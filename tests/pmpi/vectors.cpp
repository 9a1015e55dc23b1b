// Times MPI_Gatherv, Scatterv and Alltoallv of the library that is put before the MPI against the MPI's own,
// which are still there by their PMPI names: in turns, begun at appointed times, the slowest rank counts.
// What is printed is the least: on a busy machine, other calls wait for a core. Blocks are of one length, or
// of lengths from nothing to twice that. Arguments: the longest, seconds of a row; docs/measured/shim.md
// says how to run it.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

int rank = 0;
int size = 1;
constexpr int turns = 60;
double most_seconds = 1;  ///< longest time of a row

/// Seconds by a clock that is one on a node, as MPI_Wtime() need not be.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of calls, to the end on the slowest rank. Ranks leave a barrier one after the other, so each waits
/// for an appointed time.
void time(const std::function<void()>& call, int calls, std::vector<double>& times) {
  for (int i = 0; i < calls; ++i) {
    double begin = now() + 2e-5;
    PMPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);
    while (now() < begin) {
    }
    call();
    double seconds = now() - begin;
    PMPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    times.push_back(seconds);
  }
}

struct Rivals {
  const char* name;
  std::function<void()> ours;
  std::function<void()> mpi;
};

struct Blocks {
  std::vector<int> counts;
  std::vector<int> places;

  int place_of_next() const { return counts.empty() ? 0 : places.back() + counts.back(); }
  void add(int count) {
    places.push_back(place_of_next());
    counts.push_back(count);
  }
};

void compare(int bytes, bool is_even) {
  const auto length = [&](int from, int to) { return is_even ? bytes : (from + 2 * to) % 3 * bytes; };
  Blocks of_root;
  Blocks sent;
  Blocks received;
  for (int other = 0; other < size; ++other) {
    of_root.add(length(other, 1));
    sent.add(length(rank, other));
    received.add(length(other, rank));
  }
  const int own = of_root.counts[rank];
  std::vector<char> in(3UL * size * bytes + 1, 'i');
  std::vector<char> out(3UL * size * bytes + 1, 'o');
  const int* const counts = of_root.counts.data();
  const int* const places = of_root.places.data();
  const MPI_Comm comm = MPI_COMM_WORLD;
  const Rivals all[] = {
      {"gatherv",
       [&] { MPI_Gatherv(in.data(), own, MPI_CHAR, out.data(), counts, places, MPI_CHAR, 0, comm); },
       [&] { PMPI_Gatherv(in.data(), own, MPI_CHAR, out.data(), counts, places, MPI_CHAR, 0, comm); }},
      {"scatterv",
       [&] { MPI_Scatterv(in.data(), counts, places, MPI_CHAR, out.data(), own, MPI_CHAR, 0, comm); },
       [&] { PMPI_Scatterv(in.data(), counts, places, MPI_CHAR, out.data(), own, MPI_CHAR, 0, comm); }},
      {"alltoallv",
       [&] {
         MPI_Alltoallv(in.data(), sent.counts.data(), sent.places.data(), MPI_CHAR, out.data(),
                       received.counts.data(), received.places.data(), MPI_CHAR, comm);
       },
       [&] {
         PMPI_Alltoallv(in.data(), sent.counts.data(), sent.places.data(), MPI_CHAR, out.data(),
                        received.counts.data(), received.places.data(), MPI_CHAR, comm);
       }}};
  for (const auto& [name, ours, mpi] : all) {
    std::vector<double> by_us;
    std::vector<double> by_mpi;
    const double start = now();
    for (int turn = 0; turn < turns; ++turn) {
      constexpr int calls = 5;
      if (turn % 2 == 0) time(ours, calls, by_us);
      time(mpi, calls, by_mpi);
      if (turn % 2 != 0) time(ours, calls, by_us);
      int is_late = now() - start > most_seconds ? 1 : 0;
      PMPI_Bcast(&is_late, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (is_late != 0) break;
    }
    const double us = 1e6 * std::ranges::min(by_us);
    const double theirs = 1e6 * std::ranges::min(by_mpi);
    if (rank == 0)
      std::printf("%-10s %-7s %9d %10.2f %10.2f %6.2f\n", name, is_even ? "even" : "uneven", bytes, us,
                  theirs, theirs / us);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int most = argc > 1 ? std::atoi(argv[1]) : 1 << 18;
  if (argc > 2) most_seconds = std::atof(argv[2]);
  if (rank == 0) std::printf("call       lengths     bytes   ours, us    MPI, us  ratio\n");
  for (int bytes = 8; bytes <= most; bytes *= 8) {
    compare(bytes, true);
    compare(bytes, false);
  }
  MPI_Finalize();
  return 0;
}
