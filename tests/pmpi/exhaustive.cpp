// Every collective operation that schedules can do: what exhaustive.hpp lists, addresses of their own,
// barriers, messages between, attributes and errors, communicators that come and go, several threads. Says
// nothing, or what was wrong first.
#include "tests/pmpi/exhaustive.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

namespace exhaustive {

void expect(bool is_right, const std::string& what) {
  if (is_right) return;
  std::fprintf(stderr, "rank %d of the world: wrong: %s\n", rank_in(MPI_COMM_WORLD), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

bool is_alone = false;

namespace {

/// Addresses of their own instead of a buffer.
void bottom(MPI_Comm comm) {
  int one = rank_in(comm) == 0 ? 11 : 0;
  int two = rank_in(comm) == 0 ? 22 : 0;
  const int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, 0};
  MPI_Get_address(&one, &places[0]);
  MPI_Get_address(&two, &places[1]);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(MPI_BOTTOM, 1, type, 0, comm);
  expect(one == 11 && two == 22, "a broadcast of MPI_BOTTOM");

  const int me = rank_in(comm);
  const int size = size_of(comm);
  std::vector<int> all(2 * size);
  const auto are_all = [&] {
    for (int i = 0; i < 2 * size; ++i) {
      if (all[i] != 10 * (i / 2) + i % 2) return false;
    }
    return true;
  };
  one = 10 * me;
  two = 10 * me + 1;
  MPI_Allgather(MPI_BOTTOM, 1, type, all.data(), 2, MPI_INT, comm);
  expect(are_all(), "an allgather of MPI_BOTTOM");
  MPI_Gather(MPI_BOTTOM, 1, type, all.data(), 2, MPI_INT, size - 1, comm);
  expect(are_all(), "a gather of MPI_BOTTOM");
  one = two = -1;
  MPI_Scatter(all.data(), 2, MPI_INT, MPI_BOTTOM, 1, type, 0, comm);
  expect(one == 10 * me && two == 10 * me + 1, "a scatter to MPI_BOTTOM");
  MPI_Type_free(&type);
}

/// Nobody leaves one before the last has come: everybody counts, in memory that all see. Some come late.
void barriers(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &node);
  const int size = size_of(node);
  const int me = rank_in(node);
  int* own = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, node, &own, &window);
  std::vector<int*> counters(size);
  for (int rank = 0; rank < size; ++rank) {
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window, rank, &bytes, &unit, &counters[rank]);
  }
  *own = 0;
  MPI_Barrier(node);
  constexpr int calls = 60;
  for (int call = 1; call <= calls; ++call) {
    if (call % size == me) std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::atomic_ref(*own).store(call);
    MPI_Barrier(comm);
    for (const int* counter : counters)
      expect(std::atomic_ref(*const_cast<int*>(counter)).load() >= call, "a barrier that lets through");
  }
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
}

/// A receive that takes anything waits while collective calls go on.
void messages_between(MPI_Comm comm) {
  const int size = size_of(comm);
  const int me = rank_in(comm);
  int got = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  int sum = me;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&sum, 1, MPI_INT, size - 1, comm);
  MPI_Send(&me, 1, MPI_INT, (me + 1) % size, 28000, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum == size * (size - 1) / 2 && got == (me + size - 1) % size, "messages between collective calls");
}

int count_copy(MPI_Comm /*comm*/, int /*keyval*/, void* copies, void* /*value*/, void* /*copied*/,
               int* flag) {
  ++*static_cast<int*>(copies);
  *flag = 0;
  return MPI_SUCCESS;
}

/// What a program has attached to a communicator is not touched, and errors go where it wants them.
void attributes_and_errors() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int copies = 0;
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, &copies);
  MPI_Comm_set_attr(comm, keyval, nullptr);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(copies == 0, "the attributes of a program were copied");
  MPI_Comm_free_keyval(&keyval);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  expect(MPI_Bcast(&sum, -1, MPI_INT, 0, comm) != MPI_SUCCESS, "a count of -1");
  expect(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS, "no operation");
  double real = 1;
  expect(MPI_Allreduce(MPI_IN_PLACE, &real, 1, MPI_DOUBLE, MPI_BAND, comm) != MPI_SUCCESS,
         "bits of a double");
  expect(MPI_Bcast(&sum, 1, MPI_INT, size_of(comm), comm) != MPI_SUCCESS, "a root that is no rank");
  MPI_Comm_free(&comm);
}

void everything(MPI_Comm comm) {
  reductions(comm);
  moves(comm);
  bottom(comm);
  barriers(comm);
  messages_between(comm);
}

void communicators() {
  const int me = rank_in(MPI_COMM_WORLD);
  for (int again = 0; again < 3; ++again) {
    for (const auto& [color, key] : {std::pair(0, -me), {me % 2, me}, {me / 3, -me}}) {
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, color, key, &part);
      if (again == 0)
        moves(part);
      else
        user_operations(part, {1, 40});
      MPI_Comm_free(&part);
    }
  }
  moves(MPI_COMM_SELF);
}

/// Every thread has a communicator of its own, and calls what the others do not call then. They overlap: all
/// ranks; all but the first, backwards; halves.
void threads() {
  constexpr int count = 3;
  const int me = rank_in(MPI_COMM_WORLD);
  const int colors[count] = {0, me == 0 ? 1 : 0, 2 * me / size_of(MPI_COMM_WORLD)};
  std::vector<MPI_Comm> comms(count, MPI_COMM_NULL);
  for (int t = 0; t < count; ++t) MPI_Comm_split(MPI_COMM_WORLD, colors[t], t == 1 ? -me : me, &comms[t]);
  std::vector<std::thread> workers;
  for (int t = 0; t < count; ++t) {
    workers.emplace_back([t, comm = comms[t]] {
      for (int again = 0; again < 2; ++again) {
        if ((t + again) % 3 == 0) user_operations(comm, {1, 100});
        if ((t + again) % 3 == 1) reductions_of_doubles(comm, {1, 3000});
        if ((t + again) % 3 == 2) reductions_of_ints(comm, {2, 10});
        MPI_Comm mine = MPI_COMM_NULL;  // made and freed by a thread
        MPI_Comm_dup(comm, &mine);
        messages_between(mine);
        MPI_Comm_free(&mine);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

}  // namespace exhaustive

using namespace exhaustive;

int main(int argc, char** argv) {
  is_alone = argc > 1 && std::strcmp(argv[1], "--alone") == 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  everything(MPI_COMM_WORLD);
  communicators();
  attributes_and_errors();
  if (provided == MPI_THREAD_MULTIPLE) threads();
  MPI_Finalize();
  return 0;
}
