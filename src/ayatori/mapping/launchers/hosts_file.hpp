#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ayatori::mapping {

struct Host {
  std::string name;
  int line = 0;                   ///< line in the file, counted from 1
  std::optional<int> slots = {};  ///< ranks that it takes, where the file says so
};

/// The hosts of a file in the order in which it names them: one on every line, as it is, as Open MPI has it
/// (`host slots=4 max_slots=8`), or as MPICH has it (`host:4`). What follows a # is a comment. Throws
/// InputError that names the line for everything else that launchers may find there, such as users and
/// bindings, and for a host that is named twice.
std::vector<Host> read_hosts(const std::string& path);

}  // namespace ayatori::mapping
