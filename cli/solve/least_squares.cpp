#include "cli/solve/least_squares.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "ayatori/base/timing.hpp"
#include "ayatori/session/least_squares.hpp"
#include "ayatori/session/terminal/terminal.hpp"
#include "cli/hold_signals.hpp"
#include "cli/result_files.hpp"
#include "cli/stop_signal.hpp"

namespace ayatori::cli {

int run_least_squares(const comm::Comm& world, const SolveArguments& arguments) {
  const Stopwatch total;
  const bool speaks = world.rank() == 0 && !arguments.quiet;
  const auto session = session::begin_session(world, {.threads = arguments.request.threads,
                                                      .profile = "none",
                                                      .collectives = arguments.request.collectives});
  const StopSignal stop;
  auto run = session::solve_least_squares(session, arguments.matrix, arguments.rhs.front(), arguments.request,
                                          arguments.damp, [&stop] { return stop.received(); });
  run.total_seconds = total.seconds();
  if (speaks) {
    const auto style = run.passed() ? session::Style::good : session::Style::bad;
    fmt::print(stderr, "{}{}", lay_out(session::find_terminal(), summary(run), style),
               arguments.explain ? explanation(run) : "");
  }
  const HoldSignals hold(world);
  ResultFiles files(session.comm);
  if (!arguments.output.empty())
    run.output = files.write_array(
        arguments.output, "x", run.x, [&](const comm::Comm& ranks, const auto& file, auto local) {
          const auto even =
              sparse::with_whole_pairs(sparse::RowPartition::even(run.x_rows.rows(), ranks.size()));
          io::save_vector(ranks, file, local, ranks.size() == session.comm.size() ? run.x_rows : even,
                          run.source.is_complex);
        });
  if (!arguments.json.empty())
    files.write_text(arguments.json, "the report", [&] { return to_json(run).dump(2) + "\n"; });
  files.finish();
  return run.passed() ? 0 : 1;
}

}  // namespace ayatori::cli
