#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/session/problem/row_facts.hpp"
#include "ayatori/session/solve.hpp"
#include "ayatori/session/terminal/progress_line.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

using Progress = std::function<void(const std::string& choice, std::int64_t iteration, double residual)>;

/// What Python asks of a solve.
struct Options {
  session::SolveRequest request;
  std::string profile;       ///< as JSON; empty without one
  std::string profile_name;  ///< where it comes from
  session::RowFacts known;

  void set(const std::string& name, const nb::object& value);
};

/// Collective. Throws on all ranks what one has to say.
void agree_on(const comm::Comm& comm, const std::string& complaint);

/// The line that tells how far a solve is.
session::ProgressLine progress_line(bool speaks, double rtol);

/// All arguments outlive it. `shows_line`: as the command line shows how far it is.
session::SolveHooks make_hooks(const Progress& progress, bool shows_line, session::ProgressLine& line,
                               Interruption& interruption);

}  // namespace ayatori::python
