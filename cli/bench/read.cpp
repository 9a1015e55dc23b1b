#include <fmt/core.h>

#include "ayatori/comm/threads.hpp"
#include "bench/kernels/read_matrix.hpp"
#include "cli/bench/bench.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ReadArguments {
  std::string matrix;
  BenchOptions bench;
};

int run_read(const comm::Comm& world, const ReadArguments& arguments) {
  const int threads = comm::set_threads(world, arguments.bench.threads);
  const auto timing = bench::time_read(world, arguments.matrix, arguments.bench.repetitions);
  const Spread seconds = spread(timing.seconds);
  if (world.rank() == 0) {
    const double megabytes = 1e-6 * static_cast<double>(timing.file_bytes);
    fmt::print(stderr, "{}: {} x {}, {} nonzeros, {:.1f} MB\n", arguments.matrix, timing.rows, timing.columns,
               timing.nonzeros, megabytes);
    fmt::print(stderr, "median {:.3f} s, min {:.3f}, max {:.3f}: {:.0f} MB/s\n", seconds.median, seconds.min,
               seconds.max, megabytes / seconds.median);
  }
  write_json(world, arguments.bench.json,
             {{"schema", "ayatori.bench-read/1"},
              {"matrix", arguments.matrix},
              {"ranks", world.size()},
              {"threads", threads},
              {"file_bytes", timing.file_bytes},
              {"rows", timing.rows},
              {"columns", timing.columns},
              {"nonzeros", timing.nonzeros},
              {"sum", timing.sum},
              {"checksum", fmt::format("{:016x}", timing.checksum)},
              {"seconds", timing.seconds}});
  return 0;
}

}  // namespace

void add_bench_read(Command& bench, Run& run) {
  auto arguments = std::make_shared<ReadArguments>();
  Command* command = bench.add_subcommand("read", "Reading a matrix, from the file to compressed rows");
  command->examples(
      {{"ayatori bench read A.mtx", "how fast a file is read"},
       {"ayatori bench read A.mtx.gz --repetitions 3 --threads 1", "compressed, by one thread"}});
  command->add_option("matrix", arguments->matrix, "Matrix file")->required();
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_read);
}

}  // namespace ayatori::cli
