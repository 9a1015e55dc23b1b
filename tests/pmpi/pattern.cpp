// Messages and collective calls whose numbers trace.py knows: every function that is recorded, at least once.
#include <mpi.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <vector>

#include "tests/pmpi/ranks.hpp"

// Name of a persistent collective call; Open MPI 4 has them under names of its own.
#if MPI_VERSION >= 4
#define PERSISTENT(Name) MPI_##Name##_init
#else
#define PERSISTENT(Name) MPIX_##Name##_init
#endif

namespace {

/// Every way to send, once to the next rank: 1 double each, 5 of a vector of 2 x 3 ints.
void send_to_next(MPI_Comm comm) {
  const int next = (rank_in(comm) + 1) % size_of(comm);
  const int previous = (rank_in(comm) + size_of(comm) - 1) % size_of(comm);
  double in = 0;
  double out = 1;
  std::vector<char> buffer(10000);
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  using Send = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
  for (const Send send : {&MPI_Send, &MPI_Bsend, &MPI_Ssend, &MPI_Rsend}) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_DOUBLE, previous, 1, comm, &request);
    MPI_Barrier(comm);  // a ready send needs its receiver
    send(&out, 1, MPI_DOUBLE, next, 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  using Isend = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  for (const Isend send : {&MPI_Isend, &MPI_Ibsend, &MPI_Issend, &MPI_Irsend}) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(&in, 1, MPI_DOUBLE, previous, 1, comm, &requests[0]);
    MPI_Barrier(comm);
    send(&out, 1, MPI_DOUBLE, next, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (const Isend send_init : {&MPI_Send_init, &MPI_Bsend_init, &MPI_Ssend_init, &MPI_Rsend_init}) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Recv_init(&in, 1, MPI_DOUBLE, previous, 1, comm, &requests[0]);
    send_init(&out, 1, MPI_DOUBLE, next, 1, comm, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Barrier(comm);
    MPI_Start(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (send_init != &MPI_Rsend_init) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
#if MPI_VERSION >= 4
  double parts_in[2] = {0, 0};
  const double parts_out[2] = {1, 2};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Precv_init(parts_in, 2, 1, MPI_DOUBLE, previous, 1, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Psend_init(parts_out, 2, 1, MPI_DOUBLE, next, 1, comm, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Pready(0, requests[1]);
  MPI_Pready(1, requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#endif
  int size = 0;
  void* detached = nullptr;
  MPI_Buffer_detach(&detached, &size);
  MPI_Sendrecv(&out, 1, MPI_DOUBLE, next, 1, &in, 1, MPI_DOUBLE, previous, 1, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(&out, 1, MPI_DOUBLE, next, 1, previous, 1, comm, MPI_STATUS_IGNORE);
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 3, 4, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  int from[100] = {};
  int to[100] = {};
  MPI_Sendrecv(from, 5, vector, next, 2, to, 5, vector, previous, 2, comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&vector);
  MPI_Send(&out, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, comm);
}

/// 2 doubles put, 1 fetched, 1 accumulated, 1 both ways, all with the next rank.
void one_sided(MPI_Comm comm) {
  const int next = (rank_in(comm) + 1) % size_of(comm);
  double* memory = nullptr;
  double mine[2] = {1, 2};
  double result = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(80, 8, MPI_INFO_NULL, comm, static_cast<void*>(&memory), &win);
  MPI_Win_fence(0, win);
  MPI_Put(mine, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, win);
  MPI_Accumulate(mine, 1, MPI_DOUBLE, next, 3, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Get(&result, 1, MPI_DOUBLE, next, 5, 1, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Get_accumulate(mine, 1, MPI_DOUBLE, &result, 1, MPI_DOUBLE, next, 6, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Fetch_and_op(mine, &result, MPI_DOUBLE, next, 7, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/// What every collective call is given: 3 ints by rank, the last rank as root.
struct Arguments {
  MPI_Comm comm;
  int size = size_of(comm);
  int root = size - 1;
  std::vector<int> in = std::vector<int>(3UL * size, 1);
  std::vector<int> out = std::vector<int>(3UL * size);
  std::vector<int> counts = std::vector<int>(size, 3);
  std::vector<int> places = std::vector<int>(size);  // in ints
  std::vector<int> places_in_bytes = std::vector<int>(size);
  std::vector<MPI_Datatype> types = std::vector<MPI_Datatype>(size, MPI_INT);

  explicit Arguments(MPI_Comm of) : comm(of) {
    for (int rank = 0; rank < size; ++rank) {
      places[rank] = 3 * rank;
      places_in_bytes[rank] = 12 * rank;
    }
  }
};

/// Every operation once, and in place where that is recorded otherwise.
void collectives(MPI_Comm comm) {
  Arguments a(comm);
  int* const in = a.in.data();
  int* const out = a.out.data();
  const int* const counts = a.counts.data();
  const int* const places = a.places.data();
  MPI_Bcast(in, 3, MPI_INT, a.root, comm);
  MPI_Gather(in, 3, MPI_INT, out, 3, MPI_INT, a.root, comm);
  MPI_Gatherv(in, 3, MPI_INT, out, counts, places, MPI_INT, a.root, comm);
  MPI_Scatter(in, 3, MPI_INT, out, 3, MPI_INT, a.root, comm);
  MPI_Scatterv(in, counts, places, MPI_INT, out, 3, MPI_INT, a.root, comm);
  MPI_Allgather(in, 3, MPI_INT, out, 3, MPI_INT, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 3, MPI_INT, comm);
  MPI_Allgatherv(in, 3, MPI_INT, out, counts, places, MPI_INT, comm);
  MPI_Alltoall(in, 3, MPI_INT, out, 3, MPI_INT, comm);
  MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
  MPI_Alltoallw(in, counts, a.places_in_bytes.data(), a.types.data(), out, counts, a.places_in_bytes.data(),
                a.types.data(), comm);
  MPI_Reduce(in, out, 3, MPI_INT, MPI_SUM, a.root, comm);
  MPI_Reduce(rank_in(comm) == a.root ? MPI_IN_PLACE : in, out, 3, MPI_INT, MPI_SUM, a.root, comm);
  MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(in, out, 3, MPI_INT, MPI_SUM, comm);
  MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(in, out, 3, MPI_INT, MPI_SUM, comm);
}

void nonblocking_collectives(MPI_Comm comm) {
  Arguments a(comm);
  int* const in = a.in.data();
  int* const out = a.out.data();
  const int* const counts = a.counts.data();
  const int* const places = a.places.data();
  const auto finish = [](auto&& begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    begin(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  using R = MPI_Request*;
  finish([&](R r) { MPI_Ibarrier(comm, r); });
  finish([&](R r) { MPI_Ibcast(in, 3, MPI_INT, a.root, comm, r); });
  finish([&](R r) { MPI_Igather(in, 3, MPI_INT, out, 3, MPI_INT, a.root, comm, r); });
  finish([&](R r) { MPI_Igatherv(in, 3, MPI_INT, out, counts, places, MPI_INT, a.root, comm, r); });
  finish([&](R r) { MPI_Iscatter(in, 3, MPI_INT, out, 3, MPI_INT, a.root, comm, r); });
  finish([&](R r) { MPI_Iscatterv(in, counts, places, MPI_INT, out, 3, MPI_INT, a.root, comm, r); });
  finish([&](R r) { MPI_Iallgather(in, 3, MPI_INT, out, 3, MPI_INT, comm, r); });
  finish([&](R r) { MPI_Iallgatherv(in, 3, MPI_INT, out, counts, places, MPI_INT, comm, r); });
  finish([&](R r) { MPI_Ialltoall(in, 3, MPI_INT, out, 3, MPI_INT, comm, r); });
  finish([&](R r) { MPI_Ialltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm, r); });
  finish([&](R r) {
    MPI_Ialltoallw(in, counts, a.places_in_bytes.data(), a.types.data(), out, counts,
                   a.places_in_bytes.data(), a.types.data(), comm, r);
  });
  finish([&](R r) { MPI_Ireduce(in, out, 3, MPI_INT, MPI_SUM, a.root, comm, r); });
  finish([&](R r) { MPI_Iallreduce(in, out, 3, MPI_INT, MPI_SUM, comm, r); });
  finish([&](R r) { MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm, r); });
  finish([&](R r) { MPI_Ireduce_scatter_block(in, out, 3, MPI_INT, MPI_SUM, comm, r); });
  finish([&](R r) { MPI_Iscan(in, out, 3, MPI_INT, MPI_SUM, comm, r); });
  finish([&](R r) { MPI_Iexscan(in, out, 3, MPI_INT, MPI_SUM, comm, r); });
}

#ifdef MPICH_VERSION
constexpr bool is_mpich = true;  // 4.0.2 aborts at the second start of a scatter on more than two ranks
#else
constexpr bool is_mpich = false;
#endif

/// Each is started twice, in both ways.
void persistent_collectives(MPI_Comm comm) {
  Arguments a(comm);
  int* const in = a.in.data();
  int* const out = a.out.data();
  const int* const counts = a.counts.data();
  const int* const places = a.places.data();
  const MPI_Info info = MPI_INFO_NULL;
  const auto start_twice = [](auto&& make, int second = 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    make(&request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Startall(second, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  };
  using R = MPI_Request*;
  start_twice([&](R r) { PERSISTENT(Barrier)(comm, info, r); });
  start_twice([&](R r) { PERSISTENT(Bcast)(in, 3, MPI_INT, a.root, comm, info, r); });
  start_twice([&](R r) { PERSISTENT(Gather)(in, 3, MPI_INT, out, 3, MPI_INT, a.root, comm, info, r); });
  start_twice([&](R r) {
    PERSISTENT(Gatherv)(in, 3, MPI_INT, out, counts, places, MPI_INT, a.root, comm, info, r);
  });
  start_twice(
      [&](R r) {
        PERSISTENT(Scatter)
        (in, 3, MPI_INT, out, 3, MPI_INT, a.root, comm, info, r);
      },
      is_mpich ? 0 : 1);
  start_twice([&](R r) {
    PERSISTENT(Scatterv)(in, counts, places, MPI_INT, out, 3, MPI_INT, a.root, comm, info, r);
  });
  start_twice([&](R r) { PERSISTENT(Allgather)(in, 3, MPI_INT, out, 3, MPI_INT, comm, info, r); });
  start_twice([&](R r) {
    PERSISTENT(Allgatherv)(in, 3, MPI_INT, out, counts, places, MPI_INT, comm, info, r);
  });
  start_twice([&](R r) { PERSISTENT(Alltoall)(in, 3, MPI_INT, out, 3, MPI_INT, comm, info, r); });
  start_twice([&](R r) {
    PERSISTENT(Alltoallv)(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm, info, r);
  });
  start_twice([&](R r) {
    PERSISTENT(Alltoallw)
    (in, counts, a.places_in_bytes.data(), a.types.data(), out, counts, a.places_in_bytes.data(),
     a.types.data(), comm, info, r);
  });
  start_twice([&](R r) { PERSISTENT(Reduce)(in, out, 3, MPI_INT, MPI_SUM, a.root, comm, info, r); });
  start_twice([&](R r) { PERSISTENT(Allreduce)(in, out, 3, MPI_INT, MPI_SUM, comm, info, r); });
  start_twice([&](R r) { PERSISTENT(Reduce_scatter)(in, out, counts, MPI_INT, MPI_SUM, comm, info, r); });
  start_twice([&](R r) { PERSISTENT(Reduce_scatter_block)(in, out, 3, MPI_INT, MPI_SUM, comm, info, r); });
  start_twice([&](R r) { PERSISTENT(Scan)(in, out, 3, MPI_INT, MPI_SUM, comm, info, r); });
  start_twice([&](R r) { PERSISTENT(Exscan)(in, out, 3, MPI_INT, MPI_SUM, comm, info, r); });
}

/// 4 bytes to both neighbours on a ring of all, twice: the second time persistent.
void neighbours(MPI_Comm comm) {
  const int size = size_of(comm);
  const int is_periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(comm, 1, &size, &is_periodic, 0, &ring);
  int mine[2] = {1, 2};
  int theirs[2] = {0, 0};
  MPI_Neighbor_alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring);
  MPI_Request request = MPI_REQUEST_NULL;
  PERSISTENT(Neighbor_alltoall)(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  send_to_next(MPI_COMM_WORLD);
  one_sided(MPI_COMM_WORLD);
  collectives(MPI_COMM_WORLD);
  nonblocking_collectives(MPI_COMM_WORLD);
  persistent_collectives(MPI_COMM_WORLD);
  neighbours(MPI_COMM_WORLD);
  // The other way round, and freed before the end.
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &reversed);
  const int next = (rank_in(reversed) + 1) % size_of(reversed);
  char in = 0;
  char out = 1;
  MPI_Sendrecv(&out, 1, MPI_CHAR, next, 0, &in, 1, MPI_CHAR, MPI_ANY_SOURCE, 0, reversed, MPI_STATUS_IGNORE);
  MPI_Bcast(&out, 1, MPI_CHAR, 0, reversed);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
