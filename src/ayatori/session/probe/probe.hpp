#pragma once

#include <optional>
#include <span>
#include <string>

#include "ayatori/machine/measure.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/session/option.hpp"

namespace ayatori::session {

/// What may be asked of a measurement of the machine.
struct ProbeRequest {
  bool quick = false;
  std::optional<double> seconds;
  std::string output;
  int threads = 0;
};

/// The table of options: what a line here declares, every face offers.
std::span<const Option<ProbeRequest>> probe_options();

/// Throws InputError for values that mean nothing. Options are called by their names on the command line.
void check(const ProbeRequest& request);

/// What is measured for the request.
machine::MeasureOptions measure_options(const ProbeRequest& request);

/// Where the profile goes, with the folder of the default made: a file that can be written. Called on rank 0.
/// Throws InputError and EnvironmentError, see make_default_profile_path().
std::string prepare_output(const ProbeRequest& request);

/// The profile for people: hardware, memory, barriers, levels with their models, collectives, and what is
/// wrong.
std::string summary(const machine::Profile& profile);

/// The figures that two profiles have in common, side by side, with their ratio.
std::string comparison(const machine::Profile& a, const std::string& name_of_a, const machine::Profile& b,
                       const std::string& name_of_b);

}  // namespace ayatori::session
