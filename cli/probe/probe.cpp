#include <fmt/core.h>

#include <memory>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/machine/measure.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "cli/command.hpp"
#include "cli/hold_signals.hpp"
#include "cli/probe/report.hpp"
#include "cli/stderr_line.hpp"
#include "cli/stop_signal.hpp"

namespace ayatori::cli {

namespace {

struct Arguments {
  bool quick = false;
  double seconds = 20;
  std::string output;
  std::string show;
  std::string compare;
  int threads = 0;
};

/// Collective. Rank 0 reads and prints what others have measured: what was asked for, hence on stdout.
int show(const comm::Comm& world, const Arguments& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    const auto profile = machine::load_profile(arguments.show);
    fmt::print("{}", arguments.compare.empty()
                         ? summary(profile)
                         : comparison(profile, arguments.show, machine::load_profile(arguments.compare),
                                      arguments.compare));
  });
  return 0;
}

/// Where the profile goes, with its folder made. Called on rank 0.
std::string prepare_output(const Arguments& arguments) {
  const bool is_named = !arguments.output.empty();
  std::string path = is_named ? arguments.output : session::make_default_profile_path();
  const TemporaryFile can_be_created(path);
  return path;
}

int run_probe(const comm::Comm& world, const Arguments& arguments) {
  if (!arguments.show.empty()) return show(world, arguments);
  if (!(arguments.seconds > 0))  // a NaN passes every comparison of the parser
    throw InputError(fmt::format("--seconds {}: not a number of seconds", arguments.seconds));
  const std::string path =
      comm::agree(world, [&] { return world.rank() == 0 ? prepare_output(arguments) : std::string(); });
  comm::set_threads(world, arguments.threads);
  const StopSignal stop;  // from here on there is something worth keeping
  const bool speaks = world.rank() == 0;
  auto line = stderr_line(speaks);
  const auto profile = machine::measure(
      world,
      arguments.quick ? machine::quick_measuring : machine::MeasureOptions{.seconds = arguments.seconds},
      {.progress = [&](const std::string& probe, double share) { line.show(probe, share); },
       .wants_stop = [&] { return stop.received(); }});
  line.clear();
  {
    const HoldSignals hold(world);
    comm::agree(world, [&] {
      if (world.rank() == 0) write_file(path, machine::to_json(profile));
    });
  }
  if (speaks) fmt::print(stderr, "{}profile    {}\n", summary(profile), path);
  return 0;
}

}  // namespace

void add_probe(Command& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("probe", "Measure the machine and say what is wrong with it");
  auto* quick = command->add_flag("--quick", arguments->quick,
                                  "Fewer sizes and kernels, in 2 seconds, or in 5 where the node is busy");
  command->add_option("--seconds", arguments->seconds, "Time for measuring, about")
      ->check(range(0.1, 3600.0))
      ->capture_default_str()
      ->excludes(quick);
  auto* output = command->add_option("-o,--output", arguments->output,
                                     "Profile to write (JSON); default: where `solve` looks for it");
  command
      ->add_option("--threads", arguments->threads, "Threads per rank; 0: the cores of the node, shared out")
      ->check(non_negative());
  auto* show = command->add_option("--show", arguments->show, "Print this profile instead of measuring");
  command->add_option("--compare", arguments->compare, "A second profile, side by side with --show")
      ->needs(show);
  show->excludes(output, quick);
  command->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_probe(world, *arguments); };
  });
}

}  // namespace ayatori::cli
