// solve_ayatori FOLDER RTOL TIME_LIMIT KNOWLEDGE [RUNS]: `ayatori solve` of FOLDER/A.petsc and b.petsc in one
// process, as solve_petsc.py runs PETSc's settings, so that no solve but the first meets code that has never
// run. Each solve begins with what the folder KNOWLEDGE holds, or with nothing ("none"), and forgets what it
// has found unless that is kept there. A line of JSON for each of RUNS solves (2), or for the first alone
// where it takes longer than a second; x of the last goes to FOLDER/x.petsc. On one thread per rank unless
// OMP_NUM_THREADS says otherwise.

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/solve.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/report_json.hpp"

namespace {

using namespace ayatori;

constexpr double long_seconds = 1;

void run(const comm::Comm& comm, int count, char** words) {
  const std::string folder = words[1];
  session::SolveRequest request;
  request.rtol = std::atof(words[2]);
  request.time_limit = std::atof(words[3]);
  request.knowledge = words[4];
  request.profile = request.collectives = "none";
  request.threads = max_threads();
  const int runs = count > 5 ? std::atoi(words[5]) : 2;
  const auto session = session::begin_session(comm, session_options(request));
  const auto problem =
      std::make_shared<const session::Problem>(session::load_problem(session, folder + "/A.petsc", request));
  const auto b = session::make_right_hand_side(comm, *problem, folder + "/b.petsc").b;
  Array<double> x(b.size());
  for (int k = 0; k < runs; ++k) {
    x.assign(x.size(), 0.0);
    auto report = session::solve(session, problem, b, x, request).report;
    if (problem->source.is_complex) report.facts = tuning::in_complex_numbers(report.facts);
    if (comm.rank() == 0) fmt::print("{}\n", to_json(report).dump());
    if (report.seconds.total > long_seconds) break;
  }
  io::save_vector(comm, folder + "/x.petsc", x, problem->file_rows);
}

}  // namespace

int main(int argc, char** argv) {
  const comm::Environment environment(argc, argv);
  const comm::Comm world = comm::Comm::world();
  if (argc != 5 && argc != 6) {
    if (world.rank() == 0)
      fmt::print(stderr, "usage: solve_ayatori FOLDER RTOL TIME_LIMIT KNOWLEDGE [RUNS]\n");
    return 2;
  }
  try {
    run(world, argc, argv);
    return 0;
  } catch (const Error& error) {
    if (world.rank() == 0) fmt::print(stderr, "solve_ayatori: {}\n", error.what());
    return static_cast<int>(error.kind());
  }
}
