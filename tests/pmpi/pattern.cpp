// Messages and collective calls whose numbers trace.py knows: every function that is recorded, at least once.
#include <mpi.h>

#include <vector>

namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

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

/// Every operation once, of 3 ints by rank, with the last rank as root.
void collectives(MPI_Comm comm) {
  const int size = size_of(comm);
  const int root = size - 1;
  const int rank = rank_in(comm);
  std::vector<int> mine(std::size_t{3} * size, 1);
  std::vector<int> theirs(mine.size());
  const std::vector<int> counts(size, 3);
  std::vector<int> places;
  for (int r = 0; r < size; ++r) places.push_back(3 * r);
  MPI_Bcast(mine.data(), 3, MPI_INT, root, comm);
  MPI_Gather(mine.data(), 3, MPI_INT, theirs.data(), 3, MPI_INT, root, comm);
  MPI_Gatherv(mine.data(), 3, MPI_INT, theirs.data(), counts.data(), places.data(), MPI_INT, root, comm);
  MPI_Scatter(mine.data(), 3, MPI_INT, theirs.data(), 3, MPI_INT, root, comm);
  MPI_Scatterv(mine.data(), counts.data(), places.data(), MPI_INT, theirs.data(), 3, MPI_INT, root, comm);
  MPI_Allgather(mine.data(), 3, MPI_INT, theirs.data(), 3, MPI_INT, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, theirs.data(), 3, MPI_INT, comm);
  MPI_Allgatherv(mine.data(), 3, MPI_INT, theirs.data(), counts.data(), places.data(), MPI_INT, comm);
  MPI_Alltoall(mine.data(), 3, MPI_INT, theirs.data(), 3, MPI_INT, comm);
  MPI_Alltoallv(mine.data(), counts.data(), places.data(), MPI_INT, theirs.data(), counts.data(),
                places.data(), MPI_INT, comm);
  const std::vector<MPI_Datatype> types(size, MPI_INT);
  for (int& place : places) place *= 4;
  MPI_Alltoallw(mine.data(), counts.data(), places.data(), types.data(), theirs.data(), counts.data(),
                places.data(), types.data(), comm);
  MPI_Reduce(mine.data(), theirs.data(), 3, MPI_INT, MPI_SUM, root, comm);
  MPI_Reduce(rank == root ? MPI_IN_PLACE : mine.data(), theirs.data(), 3, MPI_INT, MPI_SUM, root, comm);
  MPI_Allreduce(mine.data(), theirs.data(), 3, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter(mine.data(), theirs.data(), counts.data(), MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(mine.data(), theirs.data(), 3, MPI_INT, MPI_SUM, comm);
  MPI_Scan(mine.data(), theirs.data(), 3, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(mine.data(), theirs.data(), 3, MPI_INT, MPI_SUM, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(mine.data(), theirs.data(), 3, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// 4 bytes to both neighbours on a ring of all.
void neighbours(MPI_Comm comm) {
  const int size = size_of(comm);
  const int is_periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(comm, 1, &size, &is_periodic, 0, &ring);
  int mine[2] = {1, 2};
  int theirs[2] = {0, 0};
  MPI_Neighbor_alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring);
  MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  send_to_next(MPI_COMM_WORLD);
  one_sided(MPI_COMM_WORLD);
  collectives(MPI_COMM_WORLD);
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
