#include "ayatori/comm/mpi/application.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {
namespace {

TEST(Application, GivesItsCommunicatorByAddressOrAsFortranHasIt) {
  MPI_Comm reversed = MPI_COMM_NULL;
  const int rank = Comm::world().rank();
  const int size = Comm::world().size();
  ASSERT_EQ(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed), MPI_SUCCESS);
  for (const Comm& comm : {from_handle_at(&reversed), from_fortran_handle(to_fortran(reversed))}) {
    EXPECT_EQ(comm.rank(), size - 1 - rank);
    EXPECT_NE(native(comm), reversed);
  }
  MPI_Comm_free(&reversed);
}

TEST(Application, NoCommunicatorIsRefused) {
  const MPI_Comm none = MPI_COMM_NULL;
  EXPECT_THROW(from_handle_at(&none), InputError);
  EXPECT_THROW(from_fortran_handle(to_fortran(none)), InputError);
}

TEST(Application, KeepsTheErrorHandlerOfItsProcess) {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Errhandler after = MPI_ERRHANDLER_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  const auto alone = Comm::self();
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(native(alone), native(Comm::self()));
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &after);
  EXPECT_EQ(before, after);
  MPI_Errhandler_free(&before);
  MPI_Errhandler_free(&after);
}

}  // namespace
}  // namespace ayatori::comm
