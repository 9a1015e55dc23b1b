#include "ayatori/comm/agree.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ayatori::comm {
namespace {

class AgreeTest : public testing::Test {
 protected:
  const Comm comm = Comm::world();
  const int rank = comm.rank();
  const int size = comm.size();

  /// All ranks run `local` in agreement; gives the error that this rank got, as E.
  template <class E>
  void expect_error(const std::function<void()>& local, const std::string& text) const {
    try {
      agree(comm, local);
      ADD_FAILURE() << "no error on rank " << rank;
    } catch (const E& error) {
      EXPECT_EQ(error.what(), text);
      EXPECT_TRUE(error.agreed());
    }
    comm.barrier();  // all are still together
  }
};

TEST_F(AgreeTest, GivesEachRankItsOwnResult) {
  EXPECT_EQ(agree(comm, [&] { return rank; }), rank);
  EXPECT_EQ(*agree(comm, [&] { return std::make_unique<int>(rank); }), rank);  // moved, not copied
  bool ran = false;
  agree(comm, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST_F(AgreeTest, ErrorOfOneRankReachesAll) {
  for (int failing = 0; failing < size; ++failing) {
    expect_error<InputError>(
        [&] {
          if (rank == failing) throw InputError("line " + std::to_string(failing));
        },
        "line " + std::to_string(failing));
  }
}

TEST_F(AgreeTest, LowestRankSpeaksForAll) {
  expect_error<EnvironmentError>([&] { throw EnvironmentError("rank " + std::to_string(rank)); }, "rank 0");
  const int first = size / 2;
  expect_error<InternalError>(
      [&] {
        if (rank == first) throw InternalError("upper half");
        if (rank > first) throw InputError("later");
      },
      "upper half");
}

TEST_F(AgreeTest, KeepsTheKind) {
  const auto fail_last = [&](const auto& error) {
    return [this, error] {
      if (rank == size - 1) throw error;
    };
  };
  expect_error<InputError>(fail_last(InputError("a")), "a");
  expect_error<EnvironmentError>(fail_last(EnvironmentError("b")), "b");
  expect_error<InternalError>(fail_last(InternalError("c")), "c");
  expect_error<InternalError>(fail_last(std::out_of_range("d")), "d");
  expect_error<EnvironmentError>(fail_last(std::bad_alloc()),
                                 "out of memory: use more nodes, or a smaller problem");
}

TEST_F(AgreeTest, CarriesEmptyAndLongTexts) {
  expect_error<InputError>([] { throw InputError(""); }, "");
  const std::string text(100000, 'x');
  expect_error<InputError>([&] { throw InputError(text); }, text);
}

TEST_F(AgreeTest, ResultsAreDroppedWhenAnotherRankFailed) {
  const auto resource = std::make_shared<int>(1);
  const auto use = [&] {
    return agree(comm, [&] {
      if (rank == size - 1) throw InputError("no");
      return resource;
    });
  };
  EXPECT_THROW(use(), InputError);
  EXPECT_EQ(resource.use_count(), 1);
}

TEST_F(AgreeTest, WorksOnPartsOfTheWorld) {
  const Comm part = comm.split(rank % 2, rank);
  if (rank % 2 == 0) {
    EXPECT_THROW(agree(part, [] { throw InputError("even ranks only"); }), InputError);
  } else {
    agree(part, [] {});
  }
  EXPECT_EQ(comm.allreduce(1.0, ReduceOp::sum), size);
}

}  // namespace
}  // namespace ayatori::comm
