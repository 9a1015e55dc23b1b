#pragma once

#include <memory>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::session {

/// Where a profile without a name of its own is kept, with its folder made. Called on rank 0. Throws
/// EnvironmentError, and InputError where a file stands that is no profile: it is somebody's.
std::string make_default_profile_path();

struct FoundProfile {
  std::shared_ptr<const machine::Profile> profile;  ///< nullptr where there is none
  std::string description;                          ///< where it comes from, one line; empty without one
  double measuring_seconds = 0;                     ///< that the job has just spent on it
};

/// When "auto" measures a machine of which no profile is kept.
enum class Measuring {
  whenever_missing,
  where_solves_need_it,  ///< several ranks exchange, or there is a GPU; briefly
};

/// " (...)": why there is no profile, for an error message; empty where nobody has tried to make one.
std::string reason_of(const FoundProfile& found);

/// The profile. Throws InputError where there is none; `who` stands before that.
const machine::Profile& required(const FoundProfile& found, const std::string& who = {});

/// Collective. The profile that a solve goes by. `word`: "auto", "none", a file, or the name of a published
/// machine. For "auto" it is the one that is kept on this machine; where there is none yet, or none with
/// messages for a job of several ranks, the machine is measured quickly and the profile kept.
/// AYATORI_PROFILE=none stands for "none". What cannot be measured or kept is said in the description, and no
/// error: so it is where threads outnumber processing units, and where measuring takes far longer than it
/// should.
FoundProfile find_profile(const comm::Comm& world, const std::string& word,
                          Measuring measuring = Measuring::whenever_missing);

}  // namespace ayatori::session
