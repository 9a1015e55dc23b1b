#include <gtest/gtest.h>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/mpi_algorithms.hpp"

// Leaks are looked for while MPI is up, when what it merely forgets to free at its end is still reachable;
// what it loses when it starts is not our concern.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
namespace {
void ignore_leaks() {
  __lsan_disable();
}
void notice_leaks() {
  __lsan_enable();
}
void check_leaks() {
  __lsan_do_leak_check();
}
}  // namespace
#else
namespace {
void ignore_leaks() {}
void notice_leaks() {}
void check_leaks() {}
}  // namespace
#endif

// One source for every rank count: all ranks run all tests, rank 0 reports its own results, another rank
// reports when something failed on it, and a failure anywhere makes the job fail.
int main(int argc, char** argv) {
  ignore_leaks();
  ayatori::comm::let_algorithms_be_forced();
  const ayatori::comm::Environment environment(argc, argv);
  notice_leaks();
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
  const int status = RUN_ALL_TESTS();
  check_leaks();
  return status;
}
