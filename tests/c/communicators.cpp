#include <unistd.h>

#include <fstream>
#include <utility>

#include "ayatori/comm/mpi/native.hpp"
#include "systems.hpp"

namespace ayatori::c {
namespace {

void solve_on(MPI_Comm comm) {
  const auto solver = make_solver(comm);
  const auto rows = tridiagonal<std::int32_t>(comm, usual_rows(comm));
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  expect_solves(solver.get(), rows);
}

TEST(Communicators, ThisProcessAlone) {
  ayatori_solver* made = nullptr;
  ASSERT_EQ(ayatori_create(nullptr, &made), AYATORI_OK);
  const Handle solver(made);
  // As many rows as the rank says: nobody else takes part.
  const auto rows = tridiagonal<std::int64_t>(MPI_COMM_SELF, 20 + rank_in(everyone()));
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  expect_solves(solver.get(), rows);
}

TEST(Communicators, PartsOfTheJobSolveOfTheirOwn) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(everyone(), rank_in(everyone()) % 2, -rank_in(everyone()), &part);
  for (int i = 0; i <= rank_in(everyone()) % 2; ++i) solve_on(part);
  MPI_Comm_free(&part);
}

TEST(Communicators, AsFortranHasThem) {
  ayatori_solver* made = nullptr;
  ASSERT_EQ(ayatori_create_f(comm::to_fortran(everyone()), &made), AYATORI_OK);
  const Handle solver(made);
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  expect_solves(solver.get(), rows);
}

TEST(Communicators, OfNoOneOrOfTwoGroupsAreRefused) {
  ayatori_solver* solver = nullptr;
  const MPI_Comm none = MPI_COMM_NULL;
  EXPECT_EQ(ayatori_create(&none, &solver), AYATORI_BAD_INPUT);
  EXPECT_EQ(solver, nullptr);
  EXPECT_TRUE(contains(ayatori_error_text(nullptr), "MPI_COMM_NULL"));
  EXPECT_EQ(ayatori_create_f(comm::to_fortran(MPI_COMM_NULL), &solver), AYATORI_BAD_INPUT);
  if (size_of(everyone()) == 1) return;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  const int color = rank_in(everyone()) == 0 ? 0 : 1;
  MPI_Comm_split(everyone(), color, 0, &part);
  MPI_Intercomm_create(part, 0, everyone(), color == 0 ? 1 : 0, 3, &between);
  EXPECT_EQ(ayatori_create(&between, &solver), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(ayatori_error_text(nullptr), "two groups"));
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
}

bool has_handler(MPI_Comm comm, MPI_Errhandler wanted) {
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &found);
  const bool is_it = found == wanted;
  if (found != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&found);
  return is_it;
}

void ignore(MPI_Comm*, int*, ...) {}

TEST(Communicators, KeepTheirErrorHandlers) {
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(ignore, &own);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(everyone(), &comm);
  for (const MPI_Errhandler handler : {own, static_cast<MPI_Errhandler>(MPI_ERRORS_RETURN)}) {
    for (const MPI_Comm watched : {comm, MPI_COMM_WORLD, MPI_COMM_SELF})
      MPI_Comm_set_errhandler(watched, handler);
    solve_on(comm);
    ayatori_solver* alone = nullptr;
    ASSERT_EQ(ayatori_create(nullptr, &alone), AYATORI_OK);
    ayatori_destroy(alone);
    for (const MPI_Comm watched : {comm, MPI_COMM_WORLD, MPI_COMM_SELF})
      EXPECT_TRUE(has_handler(watched, handler));
  }
  for (const MPI_Comm watched : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(watched, MPI_ERRORS_RETURN);
  MPI_Comm_free(&comm);
  MPI_Errhandler_free(&own);
}

TEST(Communicators, SeveralSolversLiveAtOnce) {
  std::vector<std::pair<Handle, Rows<std::int32_t>>> all;
  for (const double diagonal : {3.0, 4.0, 5.0}) {
    all.emplace_back(make_solver(), tridiagonal<std::int32_t>(everyone(), usual_rows(), diagonal));
    ASSERT_EQ(set_matrix(all.back().first.get(), all.back().second), AYATORI_OK);
  }
  for (int round = 0; round < 2; ++round)
    for (const auto& [solver, rows] : all) expect_solves(solver.get(), rows);
  all.erase(all.begin());
  for (const auto& [solver, rows] : all) expect_solves(solver.get(), rows);
}

/// Bytes of this process that are in memory.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

TEST(Communicators, AThousandSolversLeaveNothing) {
  const auto rows = tridiagonal<std::int32_t>(everyone(), 20);
  const auto make_and_solve = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const auto solver = make_solver();
      ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
      if (i % 10 == 0) expect_solves(solver.get(), rows);
    }
  };
  make_and_solve(200);
  [[maybe_unused]] const double before = resident_bytes();
  make_and_solve(1000);
#ifndef __SANITIZE_ADDRESS__  // which keeps what is freed for a while, and looks for leaks itself
  EXPECT_LT(resident_bytes() - before, 1e6);
#endif
}

}  // namespace
}  // namespace ayatori::c
