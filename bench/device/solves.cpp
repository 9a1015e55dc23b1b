#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/session/probe/measure_machine.hpp"
#include "ayatori/session/solve.hpp"
#include "bench/device/device.hpp"

namespace ayatori::bench::device {

namespace {

/// From a hundred rows to millions; with the diagonal, with multigrid, and where factors are better.
constexpr const char* specs[] = {
    "poisson2d-5:n=10",    "poisson2d-5:n=32",     "poisson2d-5:n=100",   "poisson2d-5:n=316",
    "poisson2d-5:n=1000",  "poisson2d-5:n=2500",   "poisson3d-7:n=10",    "poisson3d-7:n=32",
    "poisson3d-7:n=70",    "poisson3d-7:n=150",    "poisson3d-7:n=215",   "poisson3d-27:n=40",
    "poisson3d-27:n=110",  "heat3d:n=20,dt=1e-4",  "heat3d:n=60,dt=1e-4", "heat3d:n=140,dt=1e-4",
    "elliptic2d-5:n=200",  "elliptic2d-5:n=1000",  "elliptic3d-7:n=40",   "elliptic3d-7:n=120",
    "convection2d:n=150",  "convection2d:n=800",   "convection3d:n=40",   "convection3d:n=120",
    "anisotropic2d:n=200", "anisotropic2d:n=1000", "anisotropic3d:n=60",  "jump2d:n=300",
    "jump3d:n=50",         "jump3d:n=110",         "elasticity3d:n=12",   "elasticity3d:n=36",
    "tetrahedra3d:n=30",   "tetrahedra3d:n=110",   "stokes2d:n=60",       "biharmonic2d:n=100",
    "dg-advection:n=60",   "circuit:n=50000",      "curlcurl3d:n=24",     "kkt:n=60"};
constexpr const char* quick_specs[] = {"poisson2d-5:n=20", "convection2d:n=20", "heat3d:n=8"};

constexpr int most_rounds = 3;
constexpr double long_seconds = 2;

/// A machine profile in a file, as solves read it.
class ProfileFile {
 public:
  explicit ProfileFile(const machine::Profile& profile)
      : path_(std::filesystem::temp_directory_path() / fmt::format("ayatori-device-{}.json", ::getpid())) {
    std::ofstream(path_) << machine::to_json(profile);
  }
  ~ProfileFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  double seconds = INFINITY;  ///< the shortest of all rounds
  bool converged = false;
  std::string choice;
};

void take(Outcome& outcome, const tuning::SolveReport& report) {
  outcome.converged = report.converged();
  if (report.seconds.total < outcome.seconds) {
    outcome.seconds = report.seconds.total;
    outcome.choice = describe(report.choice);
  }
}

}  // namespace

bool run_solves(const comm::Comm& comm, const std::string& kind, bool quick, nlohmann::json& results) {
  auto profile = session::measure_machine(comm, machine::quick_measuring);
  if (!profile.device) session::measure_device(comm, gpu::device_type(kind), profile);
  const ProfileFile file(profile);
  const std::array<std::string, 3> places{"none", "auto", kind};
  const std::span<const char* const> wanted =
      quick ? std::span<const char* const>(quick_specs) : std::span<const char* const>(specs);
  bool all_right = true;
  double log_ratio = 0, worst = 0;
  fmt::print("{:24} {:>9} {:>10} {:>10} {:>10} {:>11}  {}\n", "whole solve", "rows", "here, s", "auto, s",
             "there, s", "auto / here", "auto's choice");
  for (const char* spec : wanted) {
    std::array<Outcome, 3> outcome;
    std::int64_t rows = 0;
    for (int round = 0; round < most_rounds; ++round) {
      for (std::size_t k = 0; k < places.size(); ++k) {
        session::SolveRequest request;
        request.device = places[k];
        request.profile = file.path();
        request.knowledge = request.collectives = "none";
        request.time_limit = 60;
        const auto session = session::begin_session(comm, session_options(request));
        const auto problem =
            std::make_shared<const session::Problem>(session::load_problem(session, spec, request));
        const auto b = session::make_right_hand_side(comm, *problem, "random:1").b;
        rows = static_cast<std::int64_t>(b.size());
        Array<double> x(b.size(), 0.0);
        try {
          take(outcome[k], session::solve(session, problem, b, x, request).report);
        } catch (const InputError&) {  // no arm of those that suit the matrix runs there
        }
      }
      if (outcome[0].seconds > long_seconds) break;
    }
    const double ratio = outcome[1].seconds / outcome[0].seconds;
    const bool is_right = outcome[1].converged || !outcome[0].converged;
    all_right = all_right && is_right;
    log_ratio += std::log(ratio);
    worst = std::max(worst, ratio);
    fmt::print("{:24} {:9} {:10.4f} {:10.4f} {:10.4f} {:11.2f}  {}{}\n", spec, rows, outcome[0].seconds,
               outcome[1].seconds, outcome[2].seconds, ratio, outcome[1].choice,
               is_right ? "" : " NOT SOLVED");
    std::fflush(stdout);
    for (std::size_t k = 0; k < places.size(); ++k)
      results.push_back({{"part", "solve"},
                         {"system", spec},
                         {"rows", rows},
                         {"device", places[k]},
                         {"seconds", std::isfinite(outcome[k].seconds) ? outcome[k].seconds : -1},
                         {"converged", outcome[k].converged},
                         {"choice", outcome[k].choice}});
  }
  fmt::print("auto takes {:.2f} of the processor's time (geometric mean of {}), {:.2f} at worst\n",
             std::exp(log_ratio / static_cast<double>(wanted.size())), wanted.size(), worst);
  return all_right;
}

}  // namespace ayatori::bench::device
