#include "ayatori/session/probe/probe.hpp"

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "ayatori/session/session_options.hpp"

namespace ayatori::session {

namespace {

using Row = Option<ProbeRequest>;

// A new option is a line here and a member of ProbeRequest.
std::vector<Row> make_table() {
  return {
      {.name = "quick",
       .place = [](ProbeRequest& r) -> bool& { return r.quick; },
       .help = "Fewer sizes and kernels, in 2 seconds, or in 5 where the node is busy"},
      {.name = "seconds",
       .place = [](ProbeRequest& r) -> std::optional<double>& { return r.seconds; },
       .help = "Time for measuring, about [20; with --quick 1.5]",
       .range = std::pair(0.1, 3600.0)},
      {.name = "output",
       .place = [](ProbeRequest& r) -> std::string& { return r.output; },
       .help = "Profile to write (JSON); default: where `solve` looks for it",
       .letter = 'o'},
      threads_option<ProbeRequest>(),
  };
}

}  // namespace

std::span<const Option<ProbeRequest>> probe_options() {
  static const auto table = make_table();
  return table;
}

void check(const ProbeRequest& request) {
  check_values(probe_options(), request);
}

machine::MeasureOptions measure_options(const ProbeRequest& request) {
  if (request.seconds) return {.quick = request.quick, .seconds = *request.seconds};
  return request.quick ? machine::quick_measuring : machine::MeasureOptions{};
}

std::string prepare_output(const ProbeRequest& request) {
  std::string path = request.output.empty() ? make_default_profile_path() : request.output;
  check_writable(path);
  return path;
}

}  // namespace ayatori::session
