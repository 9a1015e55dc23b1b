// Calls that no MPI carries out, or not every one: what the MPI itself makes of them, and what becomes of
// them here, have to be the same. Every call is made by both names, on a communicator that returns errors,
// while those of MPI_COMM_WORLD are fatal. Says nothing, or what differs.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <utility>

namespace {

constexpr int length = 64;
constexpr int any_class = -1;
using Numbers = std::array<int, length>;

MPI_Comm comm = MPI_COMM_NULL;
Numbers sent{};
Numbers received{};
int differences = 0;

struct Outcome {
  int error_class = MPI_SUCCESS;
  Numbers received{};
};

template <class F>
Outcome outcome_of(F&& call) {
  sent.fill(1);
  received.fill(7);
  Outcome outcome;
  MPI_Error_class(call(), &outcome.error_class);
  outcome.received = received;
  return outcome;
}

template <class F, class G>
void compare(const char* what, int wanted, F&& by_mpi, G&& by_pmpi) {
  const Outcome alone = outcome_of(by_pmpi);
  const Outcome ours = outcome_of(by_mpi);
  const bool is_right = ours.error_class == alone.error_class && ours.received == alone.received &&
                        (wanted == any_class || ours.error_class == wanted);
  if (is_right) return;
  ++differences;
  std::fprintf(stderr, "%s: class %d and %d ..., but %d and %d ... by the MPI\n", what, ours.error_class,
               ours.received[0], alone.error_class, alone.received[0]);
}

}  // namespace

// The same arguments for MPI_Name and PMPI_Name.
#define AYATORI_SAME(wanted, Name, ...)                                            \
  compare(                                                                         \
      #Name "(" #__VA_ARGS__ ")", wanted, [&] { return MPI_##Name(__VA_ARGS__); }, \
      [&] { return PMPI_##Name(__VA_ARGS__); })

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int* const from = sent.data();
  int* const to = received.data();
  std::array<int, length> ones{};
  ones.fill(1);
  std::array<int, length> places{};
  for (int i = 0; i < length; ++i) places[i] = i;
  const int* const counts = ones.data();
  const int* const at = places.data();

  // Operations of one-sided calls, and none at all; operations on types for which they are not defined.
  for (const MPI_Op op : {MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL}) {
    AYATORI_SAME(MPI_ERR_OP, Reduce, from, to, 1, MPI_INT, op, 0, comm);
    AYATORI_SAME(MPI_ERR_OP, Allreduce, from, to, 1, MPI_INT, op, comm);
    AYATORI_SAME(MPI_ERR_OP, Allreduce, MPI_IN_PLACE, to, 1, MPI_INT, op, comm);
    AYATORI_SAME(MPI_ERR_OP, Reduce_scatter, from, to, counts, MPI_INT, op, comm);
    AYATORI_SAME(MPI_ERR_OP, Reduce_scatter_block, from, to, 1, MPI_INT, op, comm);
    AYATORI_SAME(MPI_ERR_OP, Scan, from, to, 1, MPI_INT, op, comm);
    AYATORI_SAME(MPI_ERR_OP, Exscan, from, to, 1, MPI_INT, op, comm);
  }
  for (const auto& [op, type] : {std::pair(MPI_BAND, MPI_DOUBLE),
                                 {MPI_LXOR, MPI_FLOAT},
                                 {MPI_MAXLOC, MPI_INT},
                                 {MPI_MINLOC, MPI_DOUBLE},
                                 {MPI_SUM, MPI_2INT},
                                 {MPI_MAX, MPI_C_DOUBLE_COMPLEX},
                                 {MPI_PROD, MPI_BYTE},
                                 {MPI_SUM, MPI_CHAR},
                                 {MPI_SUM, MPI_C_BOOL}}) {
    AYATORI_SAME(any_class, Reduce, from, to, 1, type, op, 0, comm);
    AYATORI_SAME(any_class, Allreduce, from, to, 1, type, op, comm);
    AYATORI_SAME(any_class, Reduce_scatter, from, to, counts, type, op, comm);
    AYATORI_SAME(any_class, Reduce_scatter_block, from, to, 1, type, op, comm);
  }

  // Types that were not committed, plain ones and others.
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
  MPI_Op user = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &user);
  for (const MPI_Datatype type : {pair, spread, MPI_DATATYPE_NULL}) {
    AYATORI_SAME(MPI_ERR_TYPE, Bcast, to, 1, type, 0, comm);
    AYATORI_SAME(MPI_ERR_TYPE, Allgather, from, 1, type, to, 2, MPI_INT, comm);
    AYATORI_SAME(MPI_ERR_TYPE, Allgatherv, from, 1, type, to, counts, at, type, comm);
    AYATORI_SAME(MPI_ERR_TYPE, Alltoall, from, 1, type, to, 2, MPI_INT, comm);
    AYATORI_SAME(MPI_ERR_TYPE, Alltoall, from, 2, MPI_INT, to, 1, type, comm);
    AYATORI_SAME(MPI_ERR_TYPE, Alltoallv, from, counts, at, type, to, counts, at, type, comm);
    AYATORI_SAME(MPI_ERR_TYPE, Gather, from, 1, type, to, 1, type, 0, comm);
    AYATORI_SAME(MPI_ERR_TYPE, Gatherv, from, 1, type, to, counts, at, type, 0, comm);
    AYATORI_SAME(any_class, Allreduce, from, to, 1, type, user, comm);
    AYATORI_SAME(any_class, Reduce, from, to, 1, type, user, 0, comm);
    AYATORI_SAME(any_class, Reduce_scatter_block, from, to, 1, type, user, comm);
    AYATORI_SAME(any_class, Reduce_scatter, from, to, counts, type, user, comm);
    if (type == MPI_DATATYPE_NULL) continue;  // MPICH 5.0.2 aborts
    AYATORI_SAME(any_class, Allreduce, from, to, 1, type, MPI_SUM, comm);
  }
  // Open MPI takes them here, and crashes where they have holes.
  AYATORI_SAME(any_class, Scatter, from, 1, pair, to, 1, pair, 0, comm);
  AYATORI_SAME(any_class, Allgather, from, 2, MPI_INT, to, 1, pair, comm);
  // Their parts need not be.
  MPI_Datatype of_pairs = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, pair, &of_pairs);
  MPI_Type_commit(&of_pairs);
  AYATORI_SAME(MPI_SUCCESS, Bcast, to, 1, of_pairs, 0, comm);

  // Numbers that are none, roots that are none, buffers that may not be the same, or have no address.
  AYATORI_SAME(MPI_ERR_COUNT, Bcast, to, -1, MPI_INT, 0, comm);
  AYATORI_SAME(MPI_ERR_ROOT, Bcast, to, 1, MPI_INT, length, comm);
  AYATORI_SAME(MPI_ERR_ROOT, Reduce, from, to, 1, MPI_INT, MPI_SUM, -1 - length, comm);
#ifdef OPEN_MPI
  AYATORI_SAME(MPI_SUCCESS, Allreduce, to, to, 1, MPI_INT, MPI_SUM, comm);
#else
  for (const int count : {1, 2}) {
    AYATORI_SAME(MPI_ERR_BUFFER, Allreduce, to, to, count, MPI_INT, MPI_SUM, comm);
    AYATORI_SAME(MPI_ERR_BUFFER, Allreduce, from, MPI_IN_PLACE, count, MPI_INT, MPI_SUM, comm);
    AYATORI_SAME(MPI_ERR_BUFFER, Reduce_scatter_block, to, to, count, MPI_INT, MPI_SUM, comm);
  }
#endif
  // What is right still is.
  AYATORI_SAME(MPI_SUCCESS, Allreduce, from, to, 2, MPI_INT, MPI_SUM, comm);
  AYATORI_SAME(MPI_SUCCESS, Alltoall, from, 1, MPI_INT, to, 1, MPI_INT, comm);

  MPI_Type_free(&of_pairs);
  MPI_Type_free(&spread);
  MPI_Type_free(&pair);
  MPI_Op_free(&user);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return differences == 0 ? 0 : 1;
}
