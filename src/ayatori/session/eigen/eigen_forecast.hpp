#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/eigen/work.hpp"
#include "ayatori/forecast/job_machine.hpp"
#include "ayatori/session/eigen/eigen_request.hpp"

namespace ayatori::session {

/// Seconds of rank 0, which has most, in one phase.
struct PhaseForecast {
  std::string_view phase;
  double computing = 0;
  std::map<std::string, double, std::less<>> messages;  ///< by operation

  double total() const;
};

/// A dense eigenproblem on a job.
struct EigenForecast {
  forecast::JobShape shape;
  eigen::GridShape grid;
  std::int64_t block = 0;
  std::string reduction;
  std::vector<PhaseForecast> phases;

  double total() const;
};

/// Operations in a second of one thread: of products of matrices, by how many columns the first factor has,
/// and of the chase of a band, by its width.
struct ThreadRates {
  std::function<double(std::int64_t inner)> products;
  std::function<double(std::int64_t width)> chase;
};

/// A constant, and a quarter of it for the chase, which loads as much as it computes; or, for 0, what is
/// measured here when it is first asked for: it takes a tenth of a second.
ThreadRates thread_rates(double gflops);

/// Every phase by its operations, bytes and messages. Of a collective operation of every size the better of
/// two standard algorithms is taken (Thakur, Rabenseifner, Gropp 2005).
EigenForecast forecast_eigen(std::int64_t n, eigen::GridShape grid, const eigen::EigenOptions& options,
                             eigen::ProblemKind kind, const forecast::JobMachine& machine,
                             const ThreadRates& rates);

/// The reduction of the options, or for "auto" the better.
EigenForecast better_reduction(std::int64_t n, eigen::GridShape grid, const eigen::EigenOptions& options,
                               eigen::ProblemKind kind, const forecast::JobMachine& machine,
                               const ThreadRates& rates);

/// The shape of the grid, the block and, unless the options name one, the reduction that this forecast is
/// best for: of all shapes, and of blocks of 16, 32, 64 columns unless `block` is one to keep.
EigenForecast best_forecast(std::int64_t n, const eigen::EigenOptions& options, bool keep_block,
                            eigen::ProblemKind kind, const forecast::JobMachine& machine,
                            const ThreadRates& rates);

/// A problem to forecast.
struct EigenQuestion {
  std::int64_t n = 0;
  eigen::GridShape grid;  ///< 0 x 0: the best
  eigen::EigenOptions options;
  bool keep_block = false;
  eigen::ProblemKind kind = eigen::ProblemKind::standard;
  int threads = 1;
};
EigenQuestion question_of(const EigenRequest& request, std::int64_t n, eigen::ProblemKind kind, int threads);

/// A job on the machine of this profile, at the rates that the request gives instead of the profile's.
forecast::JobMachine job_machine(const machine::Profile& profile, const EigenRequest& request, int ranks,
                                 int ranks_per_node, int threads);

EigenForecast forecast_for(const EigenQuestion& question, const forecast::JobMachine& job,
                           const ThreadRates& rates);

struct GridChoice {
  eigen::GridShape grid;
  std::int64_t block = 0;
  std::string reduction;
};

/// Collective. The best for these ranks, by the profile that the request names; nothing without one. Throws
/// InputError (agreed).
std::optional<GridChoice> choose_grid(const comm::Comm& world, const EigenQuestion& question,
                                      const EigenRequest& request);

}  // namespace ayatori::session
