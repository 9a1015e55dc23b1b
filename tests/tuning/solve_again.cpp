// Solves that others go on from, learn from, or repeat.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ayatori/solvers/method.hpp"
#include "ayatori/tuning/model/forecast.hpp"
#include "ayatori/tuning/model/records.hpp"
#include "recorded.hpp"
#include "solved.hpp"

namespace ayatori::tuning {
namespace {

constexpr double watched_forever = 1e300;

/// A solve on a clock that advances by one with every iteration, which is told of snapshots.
struct Watched {
  double now = 0;
  std::vector<double> times;
  std::vector<double> residuals;  ///< true ones of the snapshots, by code of the test's own
  std::vector<double> claimed;
  Solved solved;

  Watched(const TestMatrix& matrix, const SolveOptions& options, double interval)
      : solved(matrix, 1, options, hooks(matrix, interval)) {}

  SolveHooks hooks(const TestMatrix& matrix, double interval) {
    SolveHooks hooks;
    hooks.clock = [this] { return now; };
    hooks.progress = [this](const Choice&, std::int64_t, double) { now += 1; };
    if (interval == 0) return hooks;
    hooks.seconds_between_snapshots = interval;
    hooks.snapshot = [this, &matrix](const Snapshot& snapshot) {
      times.push_back(snapshot.seconds);
      claimed.push_back(snapshot.relative_residual);
      solved.x.assign(snapshot.x.begin(), snapshot.x.end());
      residuals.push_back(solved.residual(matrix));
    };
    return hooks;
  }
};

TEST(Solve, SnapshotsLoseNoMoreThanTheInterval) {
  const auto matrix = anisotropic_matrix(16);
  const double interval = 4;
  for (const auto& method : solvers::methods()) {
    for (const char* preconditioner : {"jacobi", "chebyshev"}) {
      if (preconditioner == std::string("chebyshev") && method.name != "gmres") continue;
      SCOPED_TRACE(std::string(method.name) + " + " + preconditioner);
      SolveOptions options;
      options.forced.method = method.name;
      options.forced.preconditioner = preconditioner;
      options.forced.kernel = "csr";
      options.forced.halo = "p2p-irecv-first";
      options.max_iterations = 1000;
      if (method.restarts) options.forced.restart = 50;  // so that intervals end inside cycles
      const Watched without(matrix, options, 0);
      const Watched with(matrix, options, interval);
      EXPECT_EQ(without.solved.report.iterations, with.solved.report.iterations)
          << "snapshots change nothing";
      EXPECT_EQ(without.solved.x, with.solved.x);
      ASSERT_GT(with.times.size(), 2U);
      EXPECT_EQ(with.times.front(), 0);
      // The others' residuals leap, and an x that is worse than the last one is not told.
      const bool minimises = method.restarts || method.name == "minres";
      const double longest = minimises ? interval + 4 : watched_forever;
      for (std::size_t k = 0; k < with.times.size(); ++k) {
        EXPECT_NEAR(with.residuals[k], with.claimed[k], 1e-12);
        if (k == 0) continue;
        EXPECT_LE(with.times[k] - with.times[k - 1], longest);  // an iteration's few reductions later
        EXPECT_LE(with.claimed[k], with.claimed[k - 1]) << "the best so far";
      }
      EXPECT_LE(with.now - with.times.back(), longest);
      EXPECT_LT(with.claimed.back(), with.claimed.front());
    }
  }
}

TEST(Solve, ExperienceComesFirstAndFailuresLast) {
  const auto matrix = anisotropic_matrix(20);
  SolveOptions options;
  options.experience.best = Choice{"gmres", "neumann", 17, "mgs", "csr-unroll4", "allgather"};
  options.experience.why = "it won";
  options.experience.failed = {{{"cg", "jacobi", 0, "", "", ""}, "it broke down"}};
  options.tuning_share = 0;
  const Solved solved(matrix, 1, options);
  expect_solved(matrix, solved);
  EXPECT_EQ(solved.report.why, "it won");
  EXPECT_EQ(solved.report.choice.preconditioner, "neumann");
  EXPECT_EQ(solved.report.choice.orthogonalization, "mgs");
  EXPECT_EQ(solved.report.choice.kernel, "csr-unroll4");
  if (world().size() > 1) {
    EXPECT_EQ(solved.report.choice.halo, "allgather");
  }

  options.experience.best.reset();
  const Solved warned(matrix, 1, options);
  expect_solved(matrix, warned);
  EXPECT_FALSE(same_numerics(warned.report.choice, options.experience.failed[0].choice));

  options.forced.method = "minres";  // what is forced stands above experience
  options.experience.best = Choice{"gmres", "none", 17, "mgs", "", ""};
  EXPECT_EQ(Solved(matrix, 1, options).report.choice.method, "minres");
}

/// A solve by CG whose clock counts products: ten in an iteration with Jacobi, so that others promise to be
/// sooner, and forty times as many with these, so that they lose.
struct Counted {
  ProductClock clock;
  double lost = 0;          ///< products of trials that gave way
  double longest_lost = 0;  ///< the longest of them
  double won = 0;           ///< products of all others
  Solved solved;

  Counted(const TestMatrix& matrix, const SolveOptions& options) : solved(matrix, 1, options, hooks()) {
    for (const Trial& trial : solved.report.trials) {
      const double products = trial.iterations * products_of(trial.choice);
      const bool is_lost = trial.outcome == "outpaced" || trial.outcome == "given up";
      (is_lost ? lost : won) += products;
      if (is_lost) longest_lost = std::max(longest_lost, products);
    }
  }

  static double products_of(const Choice& choice) { return choice.preconditioner == "jacobi" ? 10 : 400; }
  SolveHooks hooks() {
    SolveHooks hooks;
    hooks.clock = [this] { return clock.read(); };
    hooks.progress = [this](const Choice& choice, std::int64_t, double) {
      clock.advance(products_of(choice));
    };
    return hooks;
  }
};

TEST(Solve, LostTrialsCostNoMoreProductsThanTheBound) {
  const auto matrix = uneven_matrix(60);
  bool any = false;
  for (const double share : {0.1, 1.0}) {
    SCOPED_TRACE(share);
    SolveOptions options;
    options.forced = {.method = "cg"};
    options.forced.excluded = preconditioners_but({"jacobi", "block-ilu0", "ssor", "chebyshev"});
    options.experience.best = Choice{.method = "cg", .preconditioner = "jacobi", .restart = 0};
    options.tuning_share = share;
    const Counted counted(matrix, options);
    expect_solved(matrix, counted.solved);
    // Another trial begins only while those that lost have taken no more than 30 times the share of the rest.
    EXPECT_LE(counted.lost - counted.longest_lost, 30 * share * counted.won);
    any = any || counted.lost > 0;
  }
  EXPECT_TRUE(any) << "nothing was tried: this test shows nothing";
}

constexpr double price_of_complete_factors = 300;

/// Records by which CG with the diagonal takes few iterations or far too many, and complete factors their
/// price.
const Records& records_of_complete_factors() {
  static const HandMade made({{steady(0.5, 1.5, 100), steady(price_of_complete_factors, 4, 2)},
                              {steady(0.5, 1.5, 4000), steady(price_of_complete_factors, 4, 2)}},
                             {}, {"cg + jacobi", "gmres(30) + direct"});
  return made.records();
}

/// A solve that begins with CG and the diagonal, beside which there are complete factors only, on a clock
/// that counts products.
struct Planned {
  ProductClock clock;
  double before = 0;  ///< what the clock showed when iterations began
  double began = 0;   ///< what the solve had taken when complete factors made their first iteration
  Solved solved;

  Planned(const TestMatrix& matrix, double share, const std::vector<std::string_view>& preconditioners)
      : solved(matrix, 1, options(share, preconditioners), hooks()) {}

  static SolveOptions options(double share, const std::vector<std::string_view>& preconditioners) {
    SolveOptions options;
    options.tuning_share = share;
    options.forced.kernel = "csr";
    options.forced.halo = "p2p-irecv-first";
    options.forced.excluded = preconditioners_but(preconditioners);
    options.forced.excluded.emplace_back("minres");
    options.experience.best = Choice{.method = "cg", .preconditioner = "jacobi", .restart = 0};
    options.records = &records_of_complete_factors();
    return options;
  }
  SolveHooks hooks() {
    SolveHooks hooks;
    hooks.clock = [this] { return clock.read(); };
    hooks.progress = [this](const Choice& choice, std::int64_t, double) {
      if (!clock.iterates) before = clock.now;
      const bool is_complete = choice.preconditioner == "direct";
      if (is_complete && began == 0) began = clock.now - before;
      clock.advance(is_complete ? 4 : 1.5);
    };
    return hooks;
  }
};

TEST(Solve, CompleteFactorsComeWhenTheirPriceHasBeenSpentOnce) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  const auto matrix = sparse::five_point_matrix(130, 1e-3, 1);
  const Planned planned(matrix, 0.1, {"jacobi", "direct"});
  const auto& report = planned.solved.report;
  SCOPED_TRACE(words_of(report));
  expect_solved(matrix, planned.solved);
  ASSERT_EQ(report.trials.size(), 2U);
  EXPECT_EQ(report.trials[0].choice.preconditioner, "jacobi");
  EXPECT_EQ(report.choice.preconditioner, "direct");
  EXPECT_GT(planned.began, 0);
  EXPECT_LE(planned.began, 1.5 * price_of_complete_factors)
      << "earlier where they are expected to end the solve clearly sooner";
  const Planned without(matrix, 0.1, {"jacobi"});
  expect_solved(matrix, without.solved);
  EXPECT_EQ(without.solved.report.trials.size(), 1U);
  EXPECT_LT(planned.clock.now, 0.8 * without.clock.now);
}

TEST(Solve, WithoutAShareNothingElseIsTried) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  const auto matrix = sparse::five_point_matrix(130, 1e-3, 1);
  const Planned forbidden(matrix, 0, {"jacobi", "direct"});
  expect_solved(matrix, forbidden.solved);
  EXPECT_EQ(forbidden.solved.report.trials.size(), 1U);
}

TEST(Solve, AFamiliarMatrixIsNotExploredAgain) {
  const auto matrix = uneven_matrix(40);
  SolveOptions options;
  options.forced = {.method = "cg"};
  options.forced.excluded = preconditioners_but({"jacobi", "block-ilu0", "chebyshev"});
  options.tuning_share = 1;
  EXPECT_GT(Counted(matrix, options).solved.report.trials.size(), 1U);
  options.experience.best = Choice{"cg", "jacobi", 0, "", "", ""};
  options.experience.familiar = true;
  EXPECT_EQ(Counted(matrix, options).solved.report.trials.size(), 1U);
}

TEST(Solve, AFamiliarMatrixKeepsItsKernelBesideFullBlocks) {
  constexpr std::int64_t nodes = 3000;  // no rank has a part of one, all enough for a glance at the blocks
  TestMatrix matrix{"blocks", 3 * nodes, {}};
  for (std::int64_t node = 0; node < nodes; ++node)
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t b = 0; b < 3; ++b) {
        const double coupling = a == b ? 1 : 0.1;
        matrix.entries.push_back({3 * node + a, 3 * node + b, 2 * coupling});
        if (node == 0) continue;
        matrix.entries.push_back({3 * node + a, 3 * node + b - 3, -coupling});
        matrix.entries.push_back({3 * node + b - 3, 3 * node + a, -coupling});
      }
  SolveOptions options;
  options.forced = {.method = "cg", .preconditioner = "jacobi"};
  options.max_iterations = 60;  // fewer than a look at the pattern is worth
  EXPECT_EQ(Counted(matrix, options).solved.report.choice.kernel, "bcsr-3x3");
  options.experience.best = Choice{.method = "cg", .preconditioner = "jacobi", .kernel = "csr"};
  options.experience.familiar = true;
  EXPECT_EQ(Counted(matrix, options).solved.report.choice.kernel, "csr");
}

/// A solve on a clock of its own kind, and the replay of its script on another.
struct Replayed {
  double now = 0;
  Solved solved;

  Replayed(const TestMatrix& matrix, SolveOptions options, const RecordedSeconds& seconds,
           std::shared_ptr<const Script> script = nullptr)
      : solved(matrix, 1, with(std::move(options), std::move(script)), hooks(seconds)) {}

  static SolveOptions with(SolveOptions options, std::shared_ptr<const Script> script) {
    options.replay = std::move(script);
    return options;
  }
  SolveHooks hooks(const RecordedSeconds& seconds) {
    SolveHooks hooks;
    if (seconds.empty()) return hooks;
    hooks.clock = [this] { return now += 1e-6; };
    hooks.progress = [this, seconds](const Choice& choice, std::int64_t iteration, double) {
      const auto of_arm = seconds.find(choice.preconditioner);
      now += (of_arm == seconds.end() ? 1 : of_arm->second) * (1 + 0.1 * static_cast<double>(iteration % 7));
    };
    return hooks;
  }
};

void expect_same_bits(const Solved& a, const Solved& b) {
  EXPECT_EQ(a.report.iterations, b.report.iterations);
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.report.status, b.report.status);
  EXPECT_EQ(a.report.choice, b.report.choice);
  ASSERT_EQ(a.report.trials.size(), b.report.trials.size());
  for (std::size_t i = 0; i < a.report.trials.size(); ++i) {
    EXPECT_EQ(a.report.trials[i].choice, b.report.trials[i].choice) << i;
    EXPECT_EQ(a.report.trials[i].iterations, b.report.trials[i].iterations) << i;
  }
  EXPECT_EQ(a.report.script.decisions, b.report.script.decisions);
}

bool warns(const SolveReport& report) {
  return std::ranges::any_of(
      report.events, [](const Event& event) { return event.text.find("last bits") != std::string::npos; });
}

TEST(Solve, SaysWhetherAReplayWillHaveTheSameBits) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  SolveOptions options;
  options.forced.preconditioner = "direct";
  const auto small = anisotropic_matrix(20);
  const auto large = anisotropic_matrix(128);
  EXPECT_TRUE(Solved(small, 1, options).report.script.is_reproducible);
  const Solved fast(large, 1, options);
  EXPECT_EQ(fast.report.script.is_reproducible, world().size() == 1);
  EXPECT_FALSE(warns(fast.report));
  SolveOptions replay;
  replay.replay = std::make_shared<const Script>(fast.report.script);
  EXPECT_EQ(warns(Solved(large, 1, replay).report), world().size() > 1);
  options.preconditioner.reproducible = true;
  const Solved once(large, 1, options);
  EXPECT_TRUE(once.report.script.is_reproducible);
  replay.replay = std::make_shared<const Script>(once.report.script);
  const Solved again(large, 1, replay);
  EXPECT_FALSE(warns(again.report));
  EXPECT_EQ(once.x, again.x);
}

/// Whatever clocks say: their seconds may be anything.
TEST(Solve, DeterministicChoicesDependOnNoClock) {
  SolveOptions options;
  options.deterministic = true;
  options.experience.best = Choice{.method = "gmres", .preconditioner = "none"};  // is not asked
  const TestMatrix uneven = uneven_matrix(60);
  const TestMatrix unsymmetric = sparse::random_matrix(1200, 6, 3);
  TestMatrix hard = unsymmetric;  // several arms run
  for (auto& e : hard.entries)
    if (e.row == e.column) e.value = 1e-3;
  bool challenged = false;
  for (const TestMatrix* matrix : std::initializer_list<const TestMatrix*>{&uneven, &unsymmetric, &hard}) {
    SCOPED_TRACE(matrix->n);
    const Replayed slow(*matrix, options, {{"jacobi", 100}, {"block-ilu0", 1e-3}, {"ilut", 7}});
    const Replayed fast(*matrix, options, {{"jacobi", 1e-6}, {"block-ilu0", 50}, {"ilut", 1e-9}});
    expect_solved(*matrix, slow.solved);
    expect_same_bits(slow.solved, fast.solved);
    challenged = challenged || slow.solved.report.trials.size() > 1;
  }
  EXPECT_TRUE(challenged) << "or this test shows nothing";
}

TEST(Solve, AReplayTakesTheSameDecisionsToTheSameBits) {
  SolveOptions gmres;  // restart lengths change
  gmres.forced.method = "gmres";
  gmres.forced.preconditioner = "none";
  gmres.forced.excluded = {"ircgs"};
  const HandMade short_cycles({{steady(0.1, 1.5, 100)}}, {}, {"gmres(30) + none"});
  gmres.records = &short_cycles.records();
  SolveOptions free;
  free.preconditioner.degree = 3;  // degree of chebyshev; the script knows
  SolveOptions few = free;
  few.max_iterations = 30;
  free.tuning_share = 1;
  SolveOptions slow = free;  // its first choice is challenged
  slow.forced.method = "cg";
  slow.forced.excluded = preconditioners_but({"jacobi", "block-ilu0", "chebyshev"});
  slow.experience.best = Choice{.method = "cg", .preconditioner = "jacobi", .restart = 0};
  slow.records = &records_that_mislead();
  const auto matrix = anisotropic_matrix(40);
  const auto unsymmetric = sparse::random_matrix(600, 6, 4);
  struct Case {
    const TestMatrix& matrix;
    SolveOptions options;
    RecordedSeconds seconds;
  };
  const std::vector<Case> cases{{matrix, slow, {{"jacobi", 1}, {"block-ilu0", 1e-4}, {"chebyshev", 1}}},
                                {matrix, slow, {{"jacobi", 1}, {"block-ilu0", 40}, {"chebyshev", 40}}},
                                {matrix, free, {}},
                                {matrix, gmres, {{"none", 1}}},
                                {unsymmetric, free, {}},
                                {matrix, few, {{"jacobi", 1}}}};
  bool challenged = false;
  bool restarted = false;
  bool changed_product = false;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const Replayed original(cases[i].matrix, cases[i].options, cases[i].seconds);
    const auto script = std::make_shared<const Script>(
        script_from_json(to_json(original.solved.report.script)));  // as a file keeps it
    const Replayed once(cases[i].matrix, {}, {{"jacobi", 1e-3}, {"block-ilu0", 7}}, script);
    const Replayed again(cases[i].matrix, {}, {}, script);
    {
      SCOPED_TRACE("two replays");
      expect_same_bits(once.solved, again.solved);
    }
    SCOPED_TRACE("the original and a replay");
    expect_same_bits(original.solved, again.solved);
    for (const Decision& decision : script->decisions) {
      challenged = challenged || decision.kind == Decision::Kind::challenge;
      restarted = restarted || decision.kind == Decision::Kind::restart;
      changed_product = changed_product || decision.kind == Decision::Kind::product;
    }
  }
  EXPECT_TRUE(challenged) << "or this test shows nothing";
  EXPECT_TRUE(restarted) << "or this test shows nothing";
  EXPECT_TRUE(changed_product) << "or this test shows nothing";
}

}  // namespace
}  // namespace ayatori::tuning
