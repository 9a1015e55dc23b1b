#include "ayatori/session/solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ayatori/base/regular_file.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "world.hpp"

namespace ayatori::session {
namespace {

/// A folder that all ranks share for the life of this.
class SharedFolder {
 public:
  SharedFolder() {
    std::string made;
    if (world().rank() == 0) {
      made = (std::filesystem::temp_directory_path() / "ayatori-session-XXXXXX").string();
      EXPECT_NE(mkdtemp(made.data()), nullptr);
    }
    path_ = world().broadcast(made, 0);
  }
  ~SharedFolder() {
    world().barrier();
    if (world().rank() == 0) std::filesystem::remove_all(path_);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

constexpr auto matrix = "convection2d:n=24,peclet=20";

struct Solved {
  SolveRun run;
  Array<double> x;
};

/// What the command line does, in as many lines.
Solved solve_it(const SolveRequest& request, const SolveHooks& hooks = {}) {
  const auto session = begin_session(world(), session_options(request));
  const auto problem = std::make_shared<const Problem>(load_problem(session, matrix, request));
  const auto b = make_right_hand_side(session.comm, *problem, "random:5").b;
  Array<double> x(b.size(), 0.0);
  auto run = solve(session, problem, b, x, request, hooks);
  return {std::move(run), problem->to_file(session.comm, std::move(x))};
}

SolveRequest quiet_request() {
  return {.profile = "none", .knowledge = "none", .threads = 1};
}

TEST(Session, SolvesAndDescribes) {
  const auto solved = solve_it(quiet_request());
  EXPECT_TRUE(solved.run.report.converged());
  EXPECT_NE(summary(solved.run).find("converged"), std::string::npos);
  const auto json = to_json(solved.run);
  EXPECT_EQ(json.at("schema"), "ayatori.solve/1");
  EXPECT_EQ(json.at("matrix").at("source"), matrix);
  EXPECT_EQ(json.at("ranks"), world().size());
  EXPECT_TRUE(json.at("checkpoint").is_null());
}

TEST(Session, AReplayRepeatsTheBits) {
  const SharedFolder folder;
  const auto first = solve_it(quiet_request());
  if (world().rank() == 0) write_file(folder.file("first.json"), to_json(first.run).dump());
  world().barrier();
  auto request = quiet_request();
  request.replay = folder.file("first.json");
  const auto again = solve_it(request);
  EXPECT_EQ(again.x, first.x);
  EXPECT_EQ(again.run.report.trials.size(), first.run.report.trials.size());
}

TEST(Session, WhatWasCheckpointedIsResumed) {
  const SharedFolder folder;
  auto request = quiet_request();
  request.checkpoint = folder.file("checkpoint");
  request.every = 0;
  request.max_iterations = 4;
  request.method = "bicgstab";
  request.preconditioner = "jacobi";
  int writes = 0;
  const SolveHooks hooks{.progress = {},
                         .event = {},
                         .wants_stop = {},
                         .note = {},
                         .uninterrupted = [&](const std::function<void()>& write) {
                           ++writes;
                           write();
                         }};
  const auto first = solve_it(request, hooks);
  EXPECT_FALSE(first.run.report.converged());
  EXPECT_GT(writes, 0);
  EXPECT_EQ(first.run.checkpoint.at("written"), writes);
  request.max_iterations = 0;
  request.resume = request.checkpoint;
  const auto second = solve_it(request);
  EXPECT_TRUE(second.run.report.converged());
  EXPECT_EQ(second.run.resumed.at("file"), request.resume);
}

TEST(Session, KnowledgeIsKeptAndUsed) {
  const SharedFolder folder;
  auto request = quiet_request();
  request.knowledge = folder.file("knowledge");
  const auto first = solve_it(request);
  EXPECT_TRUE(first.run.experience.empty());
  const auto second = solve_it(request);
  EXPECT_EQ(second.run.knowledge.at("experience").is_null(), false);
  if (world().rank() == 0) {
    EXPECT_FALSE(second.run.experience.empty());
  }
}

TEST(Session, ASolverKeepsItsSetUps) {
  auto request = quiet_request();
  request.deterministic = true;  // a busy machine may make another arm look sooner
  const auto session = begin_session(world(), session_options(request));
  const auto problem = std::make_shared<const Problem>(load_problem(session, matrix, request));
  const auto b = make_right_hand_side(session.comm, *problem, "ones").b;
  Solver solver(session, problem, request);
  for (int k = 0; k < 3; ++k) {
    Array<double> x(b.size(), 0.0);
    EXPECT_TRUE(solver.solve(b, x).report.converged());
  }
  EXPECT_EQ(solver.reuse().solves, 3);
  EXPECT_EQ(solver.reuse().set_ups, 1);
}

TEST(Session, NothingIsLearnedOfAMatrixThatReplacedTheFirst) {
  const SharedFolder folder;
  auto request = quiet_request();
  request.knowledge = folder.file("knowledge");
  const auto session = begin_session(world(), session_options(request));
  const auto problem = std::make_shared<const Problem>(load_problem(session, matrix, request));
  const auto other =
      std::make_shared<const Problem>(load_problem(session, "convection2d:n=24,peclet=21", request));
  const auto b = make_right_hand_side(session.comm, *problem, "ones").b;
  Solver solver(session, problem, request);
  const auto written = [&] {
    world().barrier();
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(request.knowledge))
      all += read_regular_file(entry.path().string(), 1 << 20);
    world().barrier();
    return all;
  };
  const auto solve_one = [&] {
    Array<double> x(b.size(), 0.0);
    EXPECT_TRUE(solver.solve(b, x).report.converged());
    return written();
  };
  const auto of_first = solve_one();
  EXPECT_FALSE(of_first.empty());
  EXPECT_NE(solve_one(), of_first);  // a second time, of the same matrix
  const auto before = written();
  solver.update(other);
  EXPECT_EQ(solve_one(), before);
}

TEST(Session, RowsThatAreThereStayWhereTheyAre) {
  const auto request = quiet_request();
  const auto session = begin_session(world(), session_options(request));
  auto loaded = io::load_matrix(session.comm, matrix);
  const auto first = loaded.block.first_row;
  const auto rows = loaded.block.rows();
  const auto problem = spread_problem(session, std::move(loaded), request);
  EXPECT_EQ(problem.file_rows.range(world().rank()).begin, first);
  EXPECT_EQ(problem.parts->plan.local_size, rows);
}

TEST(Session, WrongRequestsAreRefusedOnAllRanks) {
  auto request = quiet_request();
  request.method = "no-such-method";
  EXPECT_THROW(solve_it(request), InputError);
}

}  // namespace
}  // namespace ayatori::session
