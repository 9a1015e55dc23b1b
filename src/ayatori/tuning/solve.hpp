#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/facts/structure.hpp"
#include "ayatori/tuning/memory/experience.hpp"
#include "ayatori/tuning/memory/script.hpp"
#include "ayatori/tuning/model/records.hpp"
#include "ayatori/tuning/policy/choice.hpp"
#include "ayatori/tuning/product/candidate_verdict.hpp"
#include "ayatori/tuning/product/rank_race.hpp"
#include "ayatori/tuning/reusable_setup.hpp"

namespace ayatori::tuning {

struct SolveOptions {
  double rtol = 1e-8;               ///< converged means ||b - A x||_2 <= rtol ||b||_2
  std::int64_t max_iterations = 0;  ///< over all trials; 0: no limit
  double time_limit = 0;            ///< seconds for set-ups and iterations; 0: no limit
  double tuning_share = 0.1;  ///< share of the time that trials of what is not chosen in the end may cost
  /// Choices go by counted work alone, as records of earlier systems price it: the same x to the bit in every
  /// solve on as many ranks and threads. Kernels do not race, and no set-up is given up.
  bool deterministic = false;
  bool may_use_one_rank = false;  ///< a Solver may bring all rows to one rank where that is faster
  Forced forced;
  /// Where iterations run: auto (on a GPU where that is expected to end sooner, of which the profile tells),
  /// none, or a kind of device (gpu::device_types()): there alone.
  std::string device = "none";
  /// The caller's numbers of own rows, from 0, where the solve has others: what is said of rows goes by them.
  std::span<const std::int64_t> row_numbers = {};
  /// For those that obey them; the limits of set-ups are set anew.
  solvers::PreconditionerOptions preconditioner = {};
  /// What arms took on earlier systems, where these are to count; outlives the solve, and is the same on all
  /// ranks.
  const Records* records = nullptr;
  const Records& records_for(const MatrixFacts& facts) const {
    return records != nullptr ? *records : Records::shipped(facts);
  }
  Experience experience;  ///< the same on all ranks
  /// Collective. Gives the experience instead, once the facts are known; the same on all ranks.
  std::function<Experience(const MatrixFacts& facts)> recall = nullptr;
  /// Decide as this script of a solve says, of the same system on as many ranks and threads: to the same
  /// bits. The limit of iterations, what is forced and experience are those of that solve. The same on all
  /// ranks.
  std::shared_ptr<const Script> replay = nullptr;
  std::shared_ptr<const machine::Profile> profile =
      nullptr;  ///< profile of this machine, if known; the same on all ranks
};

/// Something that happened and matters: an escalation, a breakdown, a false claim of convergence, an
/// interruption.
struct Event {
  double seconds = 0;  ///< since the solve began
  std::string kind;    ///< "breakdown", "stagnation", "escalation", "overtaken", "restart", "rounding",
                       ///< "loss-of-orthogonality", "false-convergence", "refinement", "stopped",
                       ///< "failure", "note"
  std::string text;
};

/// One method run from the best x so far.
struct Trial {
  Choice choice;
  std::string why;
  std::string outcome;  ///< "converged", "stagnated", "breakdown", "failed", "outpaced", "overtaken", ...
  std::string reason;   ///< in words with figures, where there is one
  int iterations = 0;
  double relative_residual = 1;  ///< true, of the best x when the trial ended
  double setup_seconds = 0;
  double solve_seconds = 0;
  bool kept_set_up = false;  ///< the preconditioner was made for an earlier solve
};

/// What a product with the matrix moves and takes, against what the machine's memory allows.
struct ProductSpeed {
  double bytes = 0;    ///< the matrix and its vectors, all ranks together, each counted once
  double seconds = 0;  ///< measured, by the kernel and halo strategy in use; 0 if there were too few
  double memory_seconds =
      0;  ///< that moving the bytes takes at the machine's triad rate; 0 if that is unknown
};

/// Where the time went, in seconds, averaged over ranks. The parts exclude each other and are contained in
/// the totals.
struct PhaseSeconds {
  double total = 0;         ///< all of solve()
  double setup = 0;         ///< building products and preconditioners
  double tuning = 0;        ///< facts of the matrix, building challengers, attempts that lost
  double verification = 0;  ///< true residuals
  double snapshots = 0;     ///< SolveHooks::snapshot, and what it is told
  double solve = 0;         ///< iterating, of which:
  double spmv = 0;
  double halo = 0;
  double preconditioner = 0;
  double orthogonalization = 0;
  double reduction = 0;
};

enum class Status {
  converged,
  least_squares,  ///< no x meets the tolerance, as b is not in the range of a singular A; this one leaves as
                  ///< little as any, up to the tolerance, as far as the null vectors found tell
  not_converged,
  limited_by_rounding,  ///< x leaves hardly more than rounding the exact solution to double does
  interrupted,
  time_limit
};
std::string_view name_of(Status status);

/// What kept a solve from its tolerance, in words; empty where nothing did.
struct Obstacle {
  std::string property;  ///< property of the matrix, or a limit or choice of the caller's
  std::string advice;    ///< what to try
};

struct SolveReport {
  Status status = Status::not_converged;
  double relative_residual = 1;     ///< true: ||b - A x|| / ||b|| of the x handed back
  double residual_error_bound = 0;  ///< the exact one is no farther from it, proved; converged with it added
  double rounding_residual = 0;     ///< what rounding x to double leaves alone, as expected; 0: far below
  double backward_error =
      0;  ///< ||b - A x|| / (||A||_inf ||x|| + ||b||): about 1e-16 is all that double can give
  double condition_estimate = 0;           ///< ||A||_inf ||A^-1||_inf at least; 0: nobody asked
  std::int64_t boundary_rows = 0;          ///< solved first, where there are others: see ScaledSystem
  double relative_residual_of_others = 1;  ///< against what boundary rows leave of b for the other rows
  std::int64_t iterations = 0;
  MatrixFacts facts;
  Structure structure;  ///< structure of the matrix, in the numbers of the caller
  Choice choice;        ///< choice of the arm that made the residual smaller than any other did
  std::string why;
  Obstacle obstacle;
  std::vector<Trial> trials;
  std::vector<CandidateVerdict> considered;  ///< kernels and halo strategies
  double tuning_seconds = 0;  ///< what finding out cost in all: `seconds.tuning` and products that lost duels
  std::vector<Event> events;
  Script script;  ///< all that times have decided
  PhaseSeconds seconds;
  ProductSpeed product;
  int together = 1;  ///< right-hand sides that were solved at once, this one among them
  RankRace ranks;    ///< race of the Solver, if it may choose
  std::int64_t reductions = 0;
  std::int64_t halo_messages = 0;  ///< per product, all ranks
  std::int64_t halo_bytes = 0;     ///< per product, all ranks

  bool converged() const { return status == Status::converged; }
};

/// Where a solve is, for whoever wants to go on from there later.
struct Snapshot {
  solvers::ConstVector x;  ///< the best so far, in the scale of A x = b
  Choice choice;           ///< at work, with the kernel and the halo strategy in use
  std::int64_t iterations = 0;
  double relative_residual = 1;  ///< true, of x
  double seconds = 0;            ///< since the solve began, on which the ranks agree
};

/// What a caller may want to see or say while a solve runs. Called on every rank, outside parallel regions.
struct SolveHooks {
  std::function<void(const Choice& choice, std::int64_t iteration, double relative_residual)> progress;
  std::function<void(const Event& event)> event;
  std::function<bool()> wants_stop;  ///< polled in every reduction; one rank's wish stops all
  /// Collective. Told where the solve is: when it begins, and then whenever this many seconds have passed,
  /// after the iteration at work, unless x was better before. Must not throw.
  std::function<void(const Snapshot& snapshot)> snapshot;
  double seconds_between_snapshots = 60;
  std::function<double()> clock;  ///< seconds since the solve began, for decisions; wall time by default
};

/// Collective. Solves A x = b and proves it. x holds a starting guess (zeros will do), and at the end the
/// best x found, whatever the status: a result is called converged only if its true residual meets the
/// tolerance. `kept`: what an earlier solve has left, used and brought up to date; see Solver. Throws
/// InputError (agreed) for contradictory options, and for a matrix or a right-hand side that is not finite.
SolveReport solve(const comm::Comm& comm, std::shared_ptr<const sparse::SplitMatrix> parts,
                  solvers::ConstVector b, solvers::Vector x, const SolveOptions& options,
                  const SolveHooks& hooks = {}, ReusableSetup* kept = nullptr);

}  // namespace ayatori::tuning
