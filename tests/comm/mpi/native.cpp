#include "ayatori/comm/mpi/native.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"

namespace ayatori::comm {
namespace {

TEST(Native, WrapsACopyOfTheApplicationsCommunicator) {
  MPI_Comm reversed = MPI_COMM_NULL;
  const int rank = Comm::world().rank();
  const int size = Comm::world().size();
  ASSERT_EQ(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed), MPI_SUCCESS);
  const Comm comm = from_native(reversed);
  MPI_Comm_free(&reversed);  // ours lives on
  EXPECT_EQ(comm.rank(), size - 1 - rank);
  EXPECT_EQ(comm.allgather<std::int32_t>(rank)[0], size - 1);
  EXPECT_NE(native(comm), MPI_COMM_WORLD);
}

TEST(Native, TypesHaveTheSizesWePromise) {
  for (const DataType type : {DataType::byte, DataType::int32, DataType::int64, DataType::uint64,
                              DataType::float32, DataType::float64}) {
    int bytes = 0;
    MPI_Type_size(native(type), &bytes);
    EXPECT_EQ(static_cast<std::size_t>(bytes), size_of(type));
  }
}

TEST(Native, ErrorsCarryTheCallAndTheText) {
  check_mpi(MPI_SUCCESS, "MPI_Anything");
  try {
    check_mpi(MPI_ERR_RANK, "MPI_Send");
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("MPI_Send failed: ", 0), 0U) << error.what();
    return;
  }
  FAIL();
}

}  // namespace
}  // namespace ayatori::comm
