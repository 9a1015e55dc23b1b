#include <gtest/gtest.h>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/environment.hpp"

// One source for every rank count: all ranks run all tests, rank 0 reports its own results, another rank
// reports when something failed on it, and a failure anywhere makes the job fail.
int main(int argc, char** argv) {
  const ayatori::comm::Environment environment(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const auto world = ayatori::comm::Comm::world();
  if (world.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    struct FailuresOnly : testing::EmptyTestEventListener {
      int rank = 0;
      void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        fprintf(stderr, "[rank %d] %s:%d: %s\n", rank, result.file_name(), result.line_number(),
                result.summary());
      }
    };
    delete listeners.Release(listeners.default_result_printer());
    auto* failures = new FailuresOnly;  // GoogleTest owns it
    failures->rank = world.rank();
    listeners.Append(failures);
  }
  return RUN_ALL_TESTS();
}
