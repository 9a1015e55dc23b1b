#include <fmt/core.h>

#include <memory>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/session/probe/measure_machine.hpp"
#include "ayatori/session/probe/probe.hpp"
#include "cli/command.hpp"
#include "cli/hold_signals.hpp"
#include "cli/parser/declare.hpp"
#include "cli/result_files.hpp"
#include "cli/stderr_line.hpp"
#include "cli/stop_signal.hpp"

namespace ayatori::cli {

namespace {

struct ProbeArguments {
  session::ProbeRequest request;
  std::string show;
  std::string compare;
};

/// Collective. Rank 0 reads and prints what others have measured: what was asked for, hence on stdout.
int show(const comm::Comm& world, const ProbeArguments& arguments) {
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    const auto profile = machine::load_profile(arguments.show);
    fmt::print("{}", arguments.compare.empty()
                         ? session::summary(profile)
                         : session::comparison(profile, arguments.show,
                                               machine::load_profile(arguments.compare), arguments.compare));
  });
  return 0;
}

int run_probe(const comm::Comm& world, const ProbeArguments& arguments) {
  if (!arguments.show.empty()) return show(world, arguments);
  const auto& request = arguments.request;
  const std::string path = comm::agree(world, [&] {
    check(request);
    return world.rank() == 0 ? prepare_output(request) : std::string();
  });
  comm::set_threads(world, request.threads);
  const StopSignal stop;  // from here on there is something worth keeping
  const bool speaks = world.rank() == 0;
  auto line = stderr_line(speaks);
  const auto profile = session::measure_machine(
      world, measure_options(request),
      {.progress = [&](const std::string& probe, double share) { line.show(probe, share); },
       .wants_stop = [&] { return stop.received(); }});
  line.clear();
  if (speaks) fmt::print(stderr, "{}", session::summary(profile));
  const HoldSignals hold(world);
  ResultFiles files(world);
  const auto written = files.write_text(
      path, "the profile", [&] { return machine::to_json(profile); }, "profile.json");
  if (speaks && !written.empty()) fmt::print(stderr, "profile    {}\n", written);
  files.finish();
  return 0;
}

}  // namespace

void add_probe(Command& app, Run& run) {
  auto arguments = std::make_shared<ProbeArguments>();
  auto* command = app.add_subcommand("probe", "Measure the machine and say what is wrong with it");
  command->examples(
      {{"ayatori probe --quick -o node.json", "measures in some seconds and says what is wrong"},
       {"mpirun -n 2 ayatori probe --seconds 2 -o pair.json", "messages and collectives as well"},
       {"ayatori probe --show node.json --compare pair.json", "two profiles side by side"}});
  declare(*command, session::probe_options(), arguments->request);
  auto* show = command->add_option("--show", arguments->show, "Print this profile instead of measuring");
  command->add_option("--compare", arguments->compare, "A second profile, side by side with --show")
      ->needs(show);
  auto* quick = command->option("--quick");
  quick->excludes(command->option("--seconds"), show);
  show->excludes(command->option("--output"));
  command->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_probe(world, *arguments); };
  });
}

}  // namespace ayatori::cli
