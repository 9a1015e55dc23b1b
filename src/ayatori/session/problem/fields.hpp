#pragma once

#include <string>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/session/problem/problem.hpp"

namespace ayatori::session {

/// Collective. What --fields names: a file of a vector with 1 for each row that is a constraint and 0 for the
/// others; of own rows, in the solver's numbering. Throws InputError, agreed.
Array<double> load_fields(const comm::Comm& comm, const std::string& path, const Problem& problem);

}  // namespace ayatori::session
