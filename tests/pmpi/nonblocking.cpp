// Collective calls that do not block, and persistent ones, beside point-to-point messages and blocking calls;
// their results against those of the MPI itself, which PMPI names give. Prints nothing; a wrong result ends
// it.
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

#if MPI_VERSION >= 4
#define PERSISTENT(Name) MPI_##Name
#else
#define PERSISTENT(Name) MPIX_##Name
#endif

void expect(bool is_so, const std::string& what) {
  if (is_so) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Group {
  explicit Group(MPI_Comm of) : comm(of) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  MPI_Comm comm;
  int rank = 0;
  int size = 1;
};

/// Maps x -> a x + b modulo 2^16, the left one done first: does not commute.
void compose(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const left = static_cast<const unsigned*>(in);
  auto* const right = static_cast<unsigned*>(inout);
  for (int i = 0; i < *count; ++i) {
    const unsigned a = right[i] >> 16;
    right[i] = ((left[i] >> 16) * a << 16) | (((left[i] & 0xffff) * a + right[i]) & 0xffff);
  }
}

using Random = std::mt19937;

unsigned below(unsigned most, Random& random) {
  return static_cast<unsigned>(random() % most);
}

enum class Kind {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  allgatherv,
  alltoall,
  reduce_scatter,
  reduce_scatter_block
};
constexpr int kinds = 11;

/// Arguments of one call, the same on all ranks but for data, and what the MPI makes of them.
struct Task {
  Kind kind{};
  int count = 0;
  int root = 0;
  bool in_place = false;
  MPI_Datatype send_type = MPI_INT;  ///< type of `count` elements of one or two integers
  MPI_Datatype type = MPI_INT;
  int ints = 1;  ///< ints of an element
  int span = 1;  ///< and the integers from one to the next where there are holes
  MPI_Op op = MPI_SUM;
  std::vector<int> counts, places;
  std::vector<int> send, receive, expected;
};

struct Types {
  Types() {
    MPI_Type_vector(2, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
  }
  ~Types() {
    MPI_Type_free(&holes);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
  }
  MPI_Datatype holes = MPI_DATATYPE_NULL;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};

bool is_reduction(Kind kind) {
  return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::reduce_scatter ||
         kind == Kind::reduce_scatter_block;
}

bool is_root_alone_in_place(Kind kind) {
  return kind == Kind::reduce || kind == Kind::gather || kind == Kind::scatter;
}

void fill(Task& t, const Group& g, Random& own) {
  for (int& value : t.send) value = static_cast<int>(below(100000, own)) + g.rank;
  for (int& value : t.receive) value = static_cast<int>(below(100000, own)) - g.rank;
}

/// `shared` gives the same on all ranks, `own` does not.
Task task(const Group& g, const Types& types, Random& shared, Random& own, int most = 3000) {
  Task t;
  t.kind = static_cast<Kind>(below(kinds, shared));
  const unsigned exponent = below(12, shared);
  t.count = std::min<int>(1 + static_cast<int>(below(1U << exponent, shared)), most);
  t.root = static_cast<int>(below(g.size, shared));
  t.in_place = below(4, shared) == 0;
#ifndef OPEN_MPI  // MPICH 4.0.2 reads from MPI_IN_PLACE there
  if (t.kind == Kind::reduce && t.root != 0) t.in_place = false;
#endif
  const unsigned kind_of_type = below(4, shared);
  const unsigned kind_of_op = below(3, shared);
  if (is_reduction(t.kind)) {
    if (kind_of_op == 1) t.op = MPI_MAX;
    if (kind_of_op == 2) t.op = types.op;
  } else if (kind_of_type == 1) {
    t.send_type = t.type = types.holes;
    t.ints = 2;
    t.span = 3;
  } else if (kind_of_type == 2) {
    t.send_type = t.type = types.pair;
    t.ints = t.span = 2;
  }
  for (int rank = 0, at = 0; rank < g.size; ++rank) {
    t.counts.push_back(static_cast<int>(below(t.count + 1, shared)));
    t.places.push_back(at);
    at += t.counts.back() + static_cast<int>(kind_of_op);
  }
  t.send.resize(t.count * t.span * g.size + 3);
  t.receive.resize((t.count + 3) * t.span * g.size + 3);
  fill(t, g, own);
  return t;
}

/// Calls the function of the task: that of every kind gets its arguments.
template <class Calls>
int call(const Calls& calls, const Group& g, Task& t) {
  const bool is_root = g.rank == t.root;
  const bool in_place = t.in_place && (is_root || !is_root_alone_in_place(t.kind));
  const void* const send = in_place && t.kind != Kind::bcast ? MPI_IN_PLACE : t.send.data();
  int* const receive = t.receive.data();
  switch (t.kind) {
    case Kind::barrier:
      return calls.barrier(g.comm);
    case Kind::bcast:
      return calls.bcast(receive, t.count, t.type, t.root, g.comm);
    case Kind::reduce:
      return calls.reduce(send, is_root ? receive : nullptr, t.count, t.type, t.op, t.root, g.comm);
    case Kind::allreduce:
      return calls.allreduce(send, receive, t.count, t.type, t.op, g.comm);
    case Kind::gather:
      return calls.gather(send, t.count, t.send_type, is_root ? receive : nullptr, t.count, t.type, t.root,
                          g.comm);
    case Kind::scatter:
      if (in_place)
        return calls.scatter(t.send.data(), t.count, t.send_type, MPI_IN_PLACE, t.count, t.type, t.root,
                             g.comm);
      return calls.scatter(is_root ? t.send.data() : nullptr, t.count, t.send_type, receive, t.count, t.type,
                           t.root, g.comm);
    case Kind::allgather:
      return calls.allgather(send, t.count, t.send_type, receive, t.count, t.type, g.comm);
    case Kind::allgatherv:
      return calls.allgatherv(send, t.counts[g.rank], t.send_type, receive, t.counts.data(), t.places.data(),
                              t.type, g.comm);
    case Kind::alltoall:
      return calls.alltoall(send, t.count, t.send_type, receive, t.count, t.type, g.comm);
    case Kind::reduce_scatter:
      return calls.reduce_scatter(send, receive, t.counts.data(), t.type, t.op, g.comm);
    case Kind::reduce_scatter_block:
      return calls.reduce_scatter_block(send, receive, t.count, t.type, t.op, g.comm);
  }
  return MPI_ERR_INTERN;
}

struct ByMpi {
  decltype(&PMPI_Barrier) barrier = PMPI_Barrier;
  decltype(&PMPI_Bcast) bcast = PMPI_Bcast;
  decltype(&PMPI_Reduce) reduce = PMPI_Reduce;
  decltype(&PMPI_Allreduce) allreduce = PMPI_Allreduce;
  decltype(&PMPI_Gather) gather = PMPI_Gather;
  decltype(&PMPI_Scatter) scatter = PMPI_Scatter;
  decltype(&PMPI_Allgather) allgather = PMPI_Allgather;
  decltype(&PMPI_Allgatherv) allgatherv = PMPI_Allgatherv;
  decltype(&PMPI_Alltoall) alltoall = PMPI_Alltoall;
  decltype(&PMPI_Reduce_scatter) reduce_scatter = PMPI_Reduce_scatter;
  decltype(&PMPI_Reduce_scatter_block) reduce_scatter_block = PMPI_Reduce_scatter_block;
};

#define AYATORI_LATER(member, Function, ...)                           \
  template <class... Arguments>                                        \
  int member(Arguments... arguments) const {                           \
    return Function(arguments... __VA_OPT__(, ) __VA_ARGS__, request); \
  }
struct NonBlocking {
  MPI_Request* request;
  AYATORI_LATER(barrier, MPI_Ibarrier)
  AYATORI_LATER(bcast, MPI_Ibcast)
  AYATORI_LATER(reduce, MPI_Ireduce)
  AYATORI_LATER(allreduce, MPI_Iallreduce)
  AYATORI_LATER(gather, MPI_Igather)
  AYATORI_LATER(scatter, MPI_Iscatter)
  AYATORI_LATER(allgather, MPI_Iallgather)
  AYATORI_LATER(allgatherv, MPI_Iallgatherv)
  AYATORI_LATER(alltoall, MPI_Ialltoall)
  AYATORI_LATER(reduce_scatter, MPI_Ireduce_scatter)
  AYATORI_LATER(reduce_scatter_block, MPI_Ireduce_scatter_block)
};

struct Persistent {
  MPI_Request* request;
  AYATORI_LATER(barrier, PERSISTENT(Barrier_init), MPI_INFO_NULL)
  AYATORI_LATER(bcast, PERSISTENT(Bcast_init), MPI_INFO_NULL)
  AYATORI_LATER(reduce, PERSISTENT(Reduce_init), MPI_INFO_NULL)
  AYATORI_LATER(allreduce, PERSISTENT(Allreduce_init), MPI_INFO_NULL)
  AYATORI_LATER(gather, PERSISTENT(Gather_init), MPI_INFO_NULL)
  AYATORI_LATER(scatter, PERSISTENT(Scatter_init), MPI_INFO_NULL)
  AYATORI_LATER(allgather, PERSISTENT(Allgather_init), MPI_INFO_NULL)
  AYATORI_LATER(allgatherv, PERSISTENT(Allgatherv_init), MPI_INFO_NULL)
  AYATORI_LATER(alltoall, PERSISTENT(Alltoall_init), MPI_INFO_NULL)
  AYATORI_LATER(reduce_scatter, PERSISTENT(Reduce_scatter_init), MPI_INFO_NULL)
  AYATORI_LATER(reduce_scatter_block, PERSISTENT(Reduce_scatter_block_init), MPI_INFO_NULL)
};

/// What of the buffer MPI promises.
void expect_result(const Group& g, Task& t) {
  const bool is_undefined_elsewhere = t.kind == Kind::reduce_scatter || t.kind == Kind::reduce_scatter_block;
  std::size_t promised = t.receive.size();
  if (is_undefined_elsewhere && t.in_place)
    promised = t.kind == Kind::reduce_scatter ? t.counts[g.rank] : t.count;
  expect(std::equal(t.receive.begin(), t.receive.begin() + static_cast<std::ptrdiff_t>(promised),
                    t.expected.begin()),
         "result of kind " + std::to_string(static_cast<int>(t.kind)) + " of " + std::to_string(t.count) +
             (t.in_place ? " in place" : "") + ", type of " + std::to_string(t.span) + ", root " +
             std::to_string(t.root));
}

/// By the MPI, on copies of the buffers.
void find_expected(const Group& g, Task& t) {
  Task copy = t;
  call(ByMpi{}, g, copy);
  t.expected = copy.receive;
}

/// Ends all requests in one of MPI's ways; some are null already, and some are of messages.
void end_all(std::vector<MPI_Request>& requests, unsigned way) {
  const int n = static_cast<int>(requests.size());
  std::vector<MPI_Status> statuses(n);
  std::vector<int> indices(n);
  int flag = 0;
  int number = 0;
  int left = static_cast<int>(std::ranges::count_if(requests, [](auto r) { return r != MPI_REQUEST_NULL; }));
  const auto check = [](int code) { expect(code == MPI_SUCCESS, "a request has failed"); };
  switch (way) {
    case 0:
      check(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE));
      break;
    case 1:
      check(MPI_Waitall(n, requests.data(), statuses.data()));
      break;
    case 2:
      for (; left > 0; --left) {
        check(MPI_Waitany(n, requests.data(), &number, left % 2 == 0 ? MPI_STATUS_IGNORE : statuses.data()));
        expect(number != MPI_UNDEFINED, "Waitany finds one");
      }
      check(MPI_Waitany(n, requests.data(), &number, MPI_STATUS_IGNORE));
      expect(number == MPI_UNDEFINED, "Waitany finds none");
      break;
    case 3:
      while (left > 0) {
        check(MPI_Waitsome(n, requests.data(), &number, indices.data(), MPI_STATUSES_IGNORE));
        left -= number;
      }
      break;
    case 4:
      while (left > 0) {
        check(MPI_Testsome(n, requests.data(), &number, indices.data(), statuses.data()));
        left -= number;
      }
      break;
    case 5:
      while (left > 0) {
        check(MPI_Testany(n, requests.data(), &number, &flag, MPI_STATUS_IGNORE));
        if (flag != 0 && number != MPI_UNDEFINED) --left;
      }
      break;
    case 6:
      while (flag == 0) check(MPI_Testall(n, requests.data(), &flag, MPI_STATUSES_IGNORE));
      break;
    case 7:
      for (int i = n - 1; i >= 0; --i) {
        for (flag = 0; flag == 0;) check(MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE));
        check(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
      }
      break;
    default:
      for (MPI_Request& request : requests) {
        for (flag = 0; flag == 0;) check(MPI_Test(&request, &flag, statuses.data()));
      }
  }
  for (const MPI_Request request : requests) expect(request == MPI_REQUEST_NULL, "ended requests are null");
}

/// Many calls under way on several communicators, with messages and blocking calls between them.
void many_at_once(const std::vector<Group>& groups, const Types& types, int rounds, unsigned seed) {
  const Group world(MPI_COMM_WORLD);
  Random shared(seed);
  Random own(seed * 977 + static_cast<unsigned>(world.rank));
  for (int round = 0; round < rounds; ++round) {
    const int n = 1 + static_cast<int>(below(40, shared));
    std::vector<Task> tasks;
    std::vector<const Group*> group_of;
    for (int i = 0; i < n; ++i) {
      group_of.push_back(&groups[below(static_cast<unsigned>(groups.size()), shared)]);
      tasks.push_back(task(*group_of.back(), types, shared, own));
      find_expected(*group_of.back(), tasks.back());
    }
    std::vector<MPI_Request> requests(n, MPI_REQUEST_NULL);
    const unsigned what_between = below(4, shared);
    const int next = (world.rank + 1) % world.size;
    const int before = (world.rank + world.size - 1) % world.size;
    int sent = world.rank;
    int received = -1;
    for (int i = 0; i < n; ++i) {
      expect(call(NonBlocking{&requests[i]}, *group_of[i], tasks[i]) == MPI_SUCCESS, "a call begins");
      if (i != n / 2) continue;
      if (what_between == 1) MPI_Barrier(MPI_COMM_WORLD);
      if (what_between == 2) PMPI_Barrier(MPI_COMM_WORLD);
      if (what_between == 3) {
        int sum = 0;
        MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == world.size * (world.size - 1) / 2, "a blocking allreduce");
      }
    }
    requests.resize(n + 2, MPI_REQUEST_NULL);
    MPI_Irecv(&received, 1, MPI_INT, before, round, MPI_COMM_WORLD, &requests[n]);
    MPI_Isend(&sent, 1, MPI_INT, next, round, MPI_COMM_WORLD, &requests[n + 1]);
    if (below(2, shared) == 0) std::shuffle(requests.begin(), requests.end(), own);
    end_all(requests, below(9, own));
    expect(received == before, "a message");
    for (int i = 0; i < n; ++i) expect_result(*group_of[i], tasks[i]);
  }
}

/// Every call goes on while its ranks wait in calls that have nothing to do with it.
void waits_elsewhere(const Group& g) {
  if (g.size == 1) return;
  int sum = 0;
  int other = 0;
  const int one = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request second = MPI_REQUEST_NULL;
  const auto begin = [&] { MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, g.comm, &request); };
  const auto end = [&] {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum == g.size, "a sum that goes on elsewhere");
    sum = 0;
  };
  const auto one_after_other = [&](auto&& elsewhere) {  // the last rank first ends what the others wait for
    begin();
    if (g.rank == g.size - 1) {
      end();
      elsewhere();
    } else {
      elsewhere();
      end();
    }
  };
  one_after_other([&] {  // messages
    if (g.rank == g.size - 1) {
      for (int rank = 0; rank < g.size - 1; ++rank) MPI_Send(&one, 1, MPI_INT, rank, 7, g.comm);
    } else {
      MPI_Recv(&other, 1, MPI_INT, g.size - 1, 7, g.comm, MPI_STATUS_IGNORE);
    }
  });
  one_after_other([&] {  // synchronous ones
    if (g.rank == g.size - 1) {
      for (int rank = 0; rank < g.size - 1; ++rank)
        MPI_Recv(&other, 1, MPI_INT, rank, 7, g.comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Ssend(&one, 1, MPI_INT, g.size - 1, 7, g.comm);
    }
  });
  one_after_other([&] { PMPI_Barrier(g.comm); });
  one_after_other([&] { MPI_Barrier(g.comm); });
  one_after_other([&] {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split(g.comm, 0, 0, &made);
    MPI_Comm_free(&made);
  });
  one_after_other([&] {
    int* memory = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, g.comm, static_cast<void*>(&memory), &win);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
  });
  // Ranks wait for different calls first.
  for (int round = 0; round < 20; ++round) {
    MPI_Comm pair = MPI_COMM_NULL;
    MPI_Comm_dup(g.comm, &pair);
    begin();
    int sums[2] = {g.rank, 0};
    MPI_Iallreduce(sums, sums + 1, 1, MPI_INT, MPI_SUM, pair, &second);
    if (g.rank % 2 == 0) {
      end();
      MPI_Wait(&second, MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&second, MPI_STATUS_IGNORE);
      end();
    }
    expect(sums[1] == g.size * (g.size - 1) / 2, "the other sum");
    MPI_Comm_free(&pair);
  }
}

/// The first call on a communicator waits for nobody, though tags are not known yet; the communicator goes
/// while the call is under way.
void begins_alone(const Group& g) {
  if (g.size == 1) return;
  const int one = 1;
  for (int round = 0; round < 10; ++round) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(g.comm, &made);
    int sum = 0;
    int token = 5;
    MPI_Request request = MPI_REQUEST_NULL;
    if (g.rank == g.size - 1) MPI_Recv(&token, 1, MPI_INT, 0, 9, g.comm, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made, &request);
    if (g.rank == 0) MPI_Send(&token, 1, MPI_INT, g.size - 1, 9, g.comm);
    if (round % 2 == 0) {
      int again = 0;
      MPI_Allreduce(&one, &again, 1, MPI_INT, MPI_SUM, made);
      expect(again == g.size, "a blocking call after the first that does not block");
    }
    MPI_Comm_free(&made);
    MPI_Comm_dup(g.comm, &made);  // perhaps in its place
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum == g.size, "a sum on a communicator that is gone");
    MPI_Comm_free(&made);
  }
}

void freed_while_under_way(const Group& g) {
  constexpr int n = 1000;
  for (int round = 0; round < 30; ++round) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(g.comm, &made);
    Types* const types = new Types;
    std::vector<int> send(3 * n * g.size, g.rank);
    std::vector<int> receive(3 * n * g.size, -1);
    std::vector<int> mine(n, g.rank + 1);
    std::vector<int> all(n);
    std::vector<int> right(n);
    PMPI_Allreduce(mine.data(), right.data(), n, MPI_INT, types->op, made);
    MPI_Request requests[2];
    MPI_Iallgather(send.data(), n, types->holes, receive.data(), n, types->holes, made, &requests[0]);
    MPI_Iallreduce(mine.data(), all.data(), n, MPI_INT, types->op, made, &requests[1]);
    delete types;  // handles are gone
    MPI_Comm_free(&made);
    const Types others;  // perhaps in their place
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int rank = 0; rank < g.size; ++rank) {
      expect(receive[3 * n * rank] == rank && receive[3 * n * rank + 1] == -1, "data with holes");
      expect(receive[3 * n * rank + 3 * (n - 1) + 2] == rank, "the end of data with holes");
    }
    expect(all == right, "a reduction by an operation that is gone");
  }
}

/// Every kind, started again and again, by ranks in different orders.
void persistent(const Group& g, const Types& types, int starts) {
  Random shared(3);
  Random own(40 + static_cast<unsigned>(g.rank));
  std::vector<Task> tasks;
  while (std::ssize(tasks) < kinds) {
    Task t = task(g, types, shared, own, 200);
    t.kind = static_cast<Kind>(tasks.size());
    if (!is_reduction(t.kind)) t.op = MPI_SUM;
    if (is_reduction(t.kind)) {
      t.type = t.send_type = MPI_INT;
      t.ints = t.span = 1;
    }
    t.in_place = false;
    tasks.push_back(std::move(t));
  }
  std::vector<MPI_Request> requests(kinds + 1, MPI_REQUEST_NULL);
  for (int i = 0; i < kinds; ++i)
    expect(call(Persistent{&requests[i]}, g, tasks[i]) == MPI_SUCCESS, "a persistent call is made");
  int sent = 0;
  int received = 0;
  MPI_Request message = MPI_REQUEST_NULL;
  MPI_Send_init(&sent, 1, MPI_INT, (g.rank + 1) % g.size, 3, g.comm, &requests[kinds]);
  MPI_Recv_init(&received, 1, MPI_INT, (g.rank + g.size - 1) % g.size, 3, g.comm, &message);
  int flag = 0;
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  expect(flag != 0, "a request that is not started is at its end");
  MPI_Waitall(kinds, requests.data(), MPI_STATUSES_IGNORE);
  for (int start = 0; start < starts; ++start) {
    const bool is_checked = start < 20 || start % 50 == 0;
    sent = start;
    if (is_checked) {
      for (Task& t : tasks) {
        fill(t, g, own);
        find_expected(g, t);
      }
    }
    MPI_Start(&message);
    if (start % 2 == 0) {
      MPI_Startall(kinds + 1, requests.data());
    } else {
      std::vector<int> order(kinds + 1);
      for (int i = 0; i <= kinds; ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), own);
      for (const int i : order) MPI_Start(&requests[i]);
    }
    if (start % 3 == 0) {
      for (int left = kinds + 1; left > 0; --left) {
        int index = 0;
        MPI_Waitany(kinds + 1, requests.data(), &index, MPI_STATUS_IGNORE);
        expect(index != MPI_UNDEFINED, "Waitany finds a persistent one");
      }
    } else {
      MPI_Waitall(kinds + 1, requests.data(), MPI_STATUSES_IGNORE);
    }
    for (const MPI_Request request : requests) expect(request != MPI_REQUEST_NULL, "they stay");
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    expect(received == start, "a persistent message");
    if (is_checked)
      for (Task& t : tasks) expect_result(g, t);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  MPI_Request_free(&message);
  expect(requests[0] == MPI_REQUEST_NULL, "a freed request is null");
}

/// Persistent calls that are freed at once, or outlive their communicator, type and operation.
void persistent_and_gone(const Group& g) {
  for (int round = 0; round < 50; ++round) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(g.comm, &made);
    Types* const types = new Types;
    int mine = g.rank + 1;
    int all = 0;
    int right = 0;
    PMPI_Allreduce(&mine, &right, 1, MPI_INT, types->op, made);
    MPI_Request never = MPI_REQUEST_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    PERSISTENT(Allreduce_init)(&mine, &all, 1, MPI_INT, MPI_SUM, made, MPI_INFO_NULL, &never);
    PERSISTENT(Allreduce_init)(&mine, &all, 1, MPI_INT, types->op, made, MPI_INFO_NULL, &request);
    MPI_Request_free(&never);
    delete types;
    MPI_Comm_free(&made);
    for (int start = 0; start < 3; ++start) {
      all = 0;
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect(all == right, "a persistent reduction after its operation is gone");
    }
    MPI_Request_free(&request);
  }
}

/// More calls than there are tags, of several stages, begun when others have not begun; ended from the last
/// to the first.
void more_than_tags(const Group& g) {
  constexpr int n = 3000;
  std::vector<int> values(2 * n);
  std::vector<MPI_Request> requests(2 * n);
  int token = 0;
  if (g.rank == 0 && g.size > 1) MPI_Recv(&token, 1, MPI_INT, g.size - 1, 5, g.comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) {
    values[2 * i] = g.rank == i % g.size ? i : -1;
    values[2 * i + 1] = i + g.rank;
    MPI_Ibcast(&values[2 * i], 1, MPI_INT, i % g.size, g.comm, &requests[2 * i]);
    MPI_Iallreduce(MPI_IN_PLACE, &values[2 * i + 1], 1, MPI_INT, MPI_MAX, g.comm, &requests[2 * i + 1]);
  }
  if (g.rank == g.size - 1 && g.size > 1) MPI_Send(&token, 1, MPI_INT, 0, 5, g.comm);
  for (int i = 2 * n - 1; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) {
    expect(values[2 * i] == i, "one of very many broadcasts");
    expect(values[2 * i + 1] == i + g.size - 1, "one of very many allreduces");
  }
}

long resident_kibibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void leaks_nothing(const Group& g, int calls) {
  std::vector<double> mine(100, 1);
  std::vector<double> all(100);
  [[maybe_unused]] long before = 0;
  for (int i = 0; i < calls; ++i) {
    if (i == calls / 5) before = resident_kibibytes();
    MPI_Request requests[2];
    MPI_Iallreduce(mine.data(), all.data(), 100, MPI_DOUBLE, MPI_SUM, g.comm, &requests[0]);
    MPI_Ibcast(mine.data(), 100, MPI_DOUBLE, i % g.size, g.comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (i % 10 != 0) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    PERSISTENT(Allreduce_init)
    (mine.data(), all.data(), 100, MPI_DOUBLE, MPI_SUM, g.comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
#ifndef __SANITIZE_ADDRESS__  // which keeps what is freed for a while, and looks for leaks itself
  const long grown = resident_kibibytes() - before;
  expect(grown < 4096, "memory does not grow: " + std::to_string(grown) + " KiB");
#endif
}

void wrong_arguments(const Group& g) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(g.comm, &made);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  int value = 0;
  expect(MPI_Ibcast(&value, 1, MPI_INT, g.size, made, &request) != MPI_SUCCESS, "a root that is none");
  expect(MPI_Iallreduce(&value, &value, -1, MPI_INT, MPI_SUM, made, &request) != MPI_SUCCESS, "-1 elements");
  expect(MPI_Ibcast(&value, 1, MPI_DATATYPE_NULL, 0, made, &request) != MPI_SUCCESS, "a type that is none");
  MPI_Comm_free(&made);
}

/// Each thread has communicators of its own.
void by_threads(const Types& types) {
  constexpr int n = 3;
  std::vector<MPI_Comm> comms(n);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      const Group g(comms[i]);
      Random shared(50 + i);
      Random own(g.rank);
      for (int round = 0; round < 25; ++round) {
        std::vector<Task> tasks;
        std::vector<MPI_Request> requests(8, MPI_REQUEST_NULL);
        for (int k = 0; k < 8; ++k) {
          tasks.push_back(task(g, types, shared, own, 500));
          find_expected(g, tasks.back());
        }
        for (int k = 0; k < 8; ++k) call(NonBlocking{&requests[k]}, g, tasks[k]);
        end_all(requests, below(9, own));
        for (Task& t : tasks) expect_result(g, t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, part == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  const unsigned seed = argc > 2 ? std::stoi(argv[2]) : 1;
  {
    const Types types;
    const Group world(MPI_COMM_WORLD);
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm halves_of_world = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, 0, &halves_of_world);
    std::vector<Group> groups{world, Group(reversed)};
    if (world.size % 2 == 0 && world.size > 2) groups.emplace_back(halves_of_world);
    if (part == "many") many_at_once(groups, types, 60, seed);
    if (part == "elsewhere") {
      begins_alone(world);
      waits_elsewhere(world);
      begins_alone(groups.back());
    }
    if (part == "freed") freed_while_under_way(world);
    if (part == "persistent") {
      persistent(world, types, 1000);
      persistent_and_gone(world);
    }
    if (part == "tags") more_than_tags(world);
    if (part == "leaks") leaks_nothing(world, argc > 2 ? std::stoi(argv[2]) : 10000);
    if (part == "arguments") wrong_arguments(world);
    if (part == "threads" && provided == MPI_THREAD_MULTIPLE) by_threads(types);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&halves_of_world);
  }
  MPI_Finalize();
  return 0;
}
