#include <fmt/core.h>

#include <algorithm>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "ayatori/session/solve/bound_words.hpp"
#include "bench/npb/cg.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/stream_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct CgArguments {
  std::string size = "A";
  bench::NpbCgOptions cg;
};

struct NpbCgArguments {
  CgArguments cg;
  std::int64_t elements = 4'000'000;
  std::string profile = "auto";
  BenchOptions bench;
};

void add_options(Command& command, CgArguments& arguments) {
  command.add_option("--class", arguments.size, "Problem size: S, W, A, B, C or D")->capture_default_str();
  command.add_option("--kernel", arguments.cg.kernel, "Kernel of the product; auto: raced before")
      ->capture_default_str();
  command.add_option("--halo", arguments.cg.halo, "Halo strategy, also +overlap; auto: raced before")
      ->capture_default_str();
  command
      .add_option("--outer-iterations", arguments.cg.outer_iterations,
                  "That are timed; with others than the class has, residuals are verified and zeta is not")
      ->check(positive());
  command.add_option("--reductions", arguments.cg.reductions, "In an iteration: 1, 2, or auto: raced before")
      ->capture_default_str();
}

std::string describe(const bench::NpbCg& cg, int ranks) {
  std::string text = cg.product().kernel;
  if (ranks > 1) text += ", " + cg.product().halo;
  return text +
         fmt::format(", {} reduction{} per iteration", cg.reductions(), cg.reductions() == 1 ? "" : "s");
}

Json breakdown_json(const bench::CgBreakdown& breakdown) {
  return {{"product", breakdown.product},
          {"exchange", breakdown.exchange},
          {"vectors", breakdown.vectors},
          {"reductions", breakdown.reductions}};
}

/// Runs by ascending time, and what they share.
struct Report {
  const bench::NpbCg& cg;
  std::vector<bench::NpbCgRun> runs;
  bench::StreamResult stream;
  std::int64_t matrix_bytes;
  std::int64_t exchanged_bytes;
  std::vector<forecast::PhaseLimit> limits;  ///< limits of the run that is the median

  const bench::NpbCgRun& median() const { return runs[runs.size() / 2]; }
  /// Bytes of the matrix per second of the products.
  double product_rate() const {
    return static_cast<double>(matrix_bytes) * static_cast<double>(cg.products()) /
           median().breakdown.product;
  }
};

/// What a run took, for the limits of its phases: the matrix as stored, x and y once at STREAM's triad.
forecast::MeasuredRun measured_run(const Report& report, const bench::NpbClass& size, int ranks) {
  const auto& parts = report.median().breakdown;
  const auto products = report.cg.products();
  const auto bytes = static_cast<double>(report.matrix_bytes + 16 * size.rows);
  return {.ranks = ranks,
          .iterations = products,
          .products = parts.product,
          .halo = parts.exchange,
          .reductions = parts.reductions,
          .vectors = std::max(0.0, parts.vectors),
          .product_limit = bytes / report.stream.triad.median,
          .product_bytes = bytes,
          .vector_bytes = static_cast<double>(report.cg.vector_bytes()) / static_cast<double>(products),
          .sums = report.cg.sums(),
          .halo_bytes = report.exchanged_bytes};
}

void print_race(const bench::NpbCg& cg) {
  for (const auto& reason : cg.left_out()) fmt::print(stderr, "left out: {}\n", reason);
  for (const auto& entry : cg.race()) {
    fmt::print(stderr, "raced: {:<10} {:<26} {:>10.3f} ms per {}\n", entry.item, entry.name,
               1e3 * entry.seconds, entry.item == "reductions" ? "outer iteration" : "product");
  }
}

void print_report(const Report& report, const bench::NpbClass& size, int ranks, int threads) {
  const auto& cg = report.cg;
  const auto& run = report.median();
  print_race(cg);
  fmt::print(stderr, "class {}: {} rows, {} nonzeros, {} rank{} x {} thread{}; matrix made in {:.3f} s\n",
             size.name, size.rows, cg.nonzeros(), ranks, ranks == 1 ? "" : "s", threads,
             threads == 1 ? "" : "s", cg.making_seconds());
  fmt::print(stderr, "{}\n", describe(cg, ranks));
  if (run.all_iterations)
    fmt::print(stderr, "zeta {:.13f}: verified\n", run.zeta);
  else
    fmt::print(stderr, "{} of {} outer iterations: residual verified, zeta {:.13f} is not the class's\n",
               cg.outer_iterations(), size.iterations, run.zeta);
  fmt::print(stderr, "{:.4f} s ({:.4f} - {:.4f}), {:.0f} Mop/s\n", run.seconds, report.runs.front().seconds,
             report.runs.back().seconds, run.mops);
  const auto& parts = run.breakdown;
  const double percent = 100 / parts.total();
  fmt::print(stderr, "product {:.1f} %, exchange {:.1f} %, vectors {:.1f} %, reductions {:.1f} %\n",
             percent * parts.product, percent * parts.exchange, percent * parts.vectors,
             percent * parts.reductions);
  const double share = 100 * report.product_rate() / report.stream.triad.median;
  fmt::print(stderr, "the matrix ({:.1f} MB) streams at {:.1f} GB/s, {} STREAM's triad, {:.1f} GB/s\n",
             1e-6 * static_cast<double>(report.matrix_bytes), 1e-9 * report.product_rate(),
             share > 100 ? "from caches, faster than" : fmt::format("{:.0f} % of", share),
             1e-9 * report.stream.triad.median);
  fmt::print(stderr, "{}", session::limit_words(report.limits));
}

Json report_json(const Report& report, const bench::NpbClass& size, int ranks, int threads) {
  const auto& cg = report.cg;
  Json json{{"schema", "ayatori.bench-npb-cg/1"},
            {"class", size.name},
            {"ranks", ranks},
            {"threads", threads},
            {"rows", size.rows},
            {"nonzeros", cg.nonzeros()},
            {"kernel", cg.product().kernel},
            {"halo", cg.product().halo},
            {"reductions", cg.reductions()},
            {"making_seconds", cg.making_seconds()},
            {"racing_seconds", cg.racing_seconds()},
            {"matrix_bytes", report.matrix_bytes},
            {"exchanged_bytes", report.exchanged_bytes},
            {"outer_iterations", cg.outer_iterations()},
            {"products", cg.products()},
            {"stream_gigabytes_per_second", stream_json(report.stream)},
            {"limits", session::limit_json(report.limits)},
            {"race", Json::array()},
            {"runs", Json::array()}};
  for (const auto& entry : cg.race())
    json["race"].push_back({{"item", entry.item}, {"name", entry.name}, {"seconds", entry.seconds}});
  for (const auto& run : report.runs) {
    json["runs"].push_back({{"seconds", run.seconds},
                            {"mops", run.mops},
                            {"zeta", run.zeta},
                            {"residual_norm", run.residual_norm},
                            {"breakdown", breakdown_json(run.breakdown)}});
  }
  return json;
}

int run_npb_cg(const comm::Comm& world, const NpbCgArguments& arguments) {
  const bench::NpbClass size = comm::agree(world, [&] {
    check(arguments.cg.cg);
    return bench::npb_class(arguments.cg.size);
  });
  const int threads = comm::set_threads(world, arguments.bench.threads);
  const auto profile = session::find_profile(world, arguments.profile).profile;
  const auto stream = bench::stream(world, arguments.elements, 5);
  bench::NpbCg cg(world, size, arguments.cg.cg);
  Report report{cg, {}, stream, cg.matrix_bytes(), cg.exchanged_bytes(), {}};
  for (int k = 0; k < arguments.bench.repetitions; ++k) report.runs.push_back(cg.run());
  std::ranges::sort(report.runs, {}, &bench::NpbCgRun::seconds);
  report.limits = forecast::find_limits(measured_run(report, size, world.size()), profile.get());
  if (world.rank() == 0) print_report(report, size, world.size(), threads);
  write_json(world, arguments.bench.json, report_json(report, size, world.size(), threads));
  return 0;
}

}  // namespace

void add_bench_npb_cg(Command& bench, Run& run) {
  auto arguments = std::make_shared<NpbCgArguments>();
  arguments->bench.repetitions = 3;
  Command* command =
      bench.add_subcommand("npb-cg", "CG of the NAS parallel benchmarks, verified, with its breakdown");
  command->examples({{"ayatori bench npb-cg --class S", "the smallest class"},
                     {"mpirun -n 2 ayatori bench npb-cg --class S --threads 1 --kernel csr-unroll8 --halo "
                      "persistent --reductions 1",
                      "nothing raced before"}});
  add_options(*command, arguments->cg);
  add_stream_elements(*command, arguments->elements);
  command
      ->add_option("--profile", arguments->profile,
                   "Machine profile, for the limits of messages: auto, none, a file, or a published one")
      ->capture_default_str();
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_npb_cg);
}

GridSetup grid_npb_cg(Command& command) {
  auto arguments = std::make_shared<CgArguments>();
  add_options(command, *arguments);
  return {[arguments] {
            bench::npb_class(arguments->size);
            check(arguments->cg);
            return fmt::format("npb-cg, class {}", arguments->size);
          },
          [arguments](const comm::Comm& comm) {
            bench::NpbCg cg(comm, bench::npb_class(arguments->size), arguments->cg);
            const auto run = cg.run();
            const auto& parts = run.breakdown;
            return bench::GridSample{run.seconds,
                                     run.mops,
                                     static_cast<double>(cg.matrix_bytes()),
                                     {{"product", parts.product, false},
                                      {"vectors", parts.vectors, false},
                                      {"exchange", parts.exchange, true},
                                      {"reductions", parts.reductions, true}},
                                     describe(cg, comm.size())};
          },
          "Mop/s"};
}

}  // namespace ayatori::cli
