// Times MPI_Gatherv, Scatterv and Alltoallv of the library that is put before the MPI against the MPI's own,
// which are still there by their PMPI names: in turns, calls begun together behind a barrier, the slowest
// rank counts, medians. Blocks are of one length, or of lengths from nothing to twice that. Not a test;
// docs/shim.md says how to run it.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

int rank = 0;
int size = 1;

/// Of all ranks. Ranks leave a barrier one after the other: each spins until an appointed time, by clocks
/// that are one on a node.
double seconds_of(const std::function<void()>& call, int calls) {
  std::vector<double> times(calls);
  for (double& time : times) {
    double begin = MPI_Wtime() + 2e-5;
    PMPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);
    while (MPI_Wtime() < begin) {
    }
    call();
    time = MPI_Wtime() - begin;
    PMPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[calls / 2];
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
    const int calls = static_cast<int>(std::clamp(4e7 / (bytes * size + 20000.0), 5.0, 200.0));
    constexpr int turns = 9;
    std::vector<double> by_us;
    std::vector<double> by_mpi;
    for (int turn = -1; turn < turns; ++turn) {  // the first one warms up
      const bool is_first = turn % 2 == 0;
      double us = is_first ? seconds_of(ours, calls) : 0;
      const double theirs = seconds_of(mpi, calls);
      if (!is_first) us = seconds_of(ours, calls);
      if (turn < 0) continue;
      by_us.push_back(us);
      by_mpi.push_back(theirs);
    }
    std::ranges::sort(by_us);
    std::ranges::sort(by_mpi);
    if (rank == 0)
      std::printf("%-10s %-7s %9d %10.2f %10.2f %6.2f\n", name, is_even ? "even" : "uneven", bytes,
                  1e6 * by_us[turns / 2], 1e6 * by_mpi[turns / 2], by_mpi[turns / 2] / by_us[turns / 2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int most = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (rank == 0) std::printf("call       lengths     bytes   ours, us    MPI, us  ratio\n");
  for (int bytes = 8; bytes <= most; bytes *= 8) {
    compare(bytes, true);
    compare(bytes, false);
  }
  MPI_Finalize();
  return 0;
}
