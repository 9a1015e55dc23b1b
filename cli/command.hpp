#pragma once

#include <functional>

#include "ayatori/comm/comm.hpp"
#include "cli/parser/command_line.hpp"

namespace ayatori::cli {

/// What the chosen subcommand does after the command line is parsed: collective, gives the exit status.
using Run = std::function<int(const comm::Comm& world)>;

/// One function per subcommand, in the file of its name: declares its options in `app` and, when chosen, sets
/// `run`.
using AddCommand = void (*)(Command& app, Run& run);

void add_solve(Command& app, Run& run);
void add_generate(Command& app, Run& run);
void add_bench(Command& app, Run& run);
void add_probe(Command& app, Run& run);
void add_collectives(Command& app, Run& run);
void add_map(Command& app, Run& run);
void add_predict(Command& app, Run& run);
void add_report(Command& app, Run& run);
void add_eigen(Command& app, Run& run);
void add_knowledge(Command& app, Run& run);
void add_help(Command& app, Run& run);
void add_man(Command& app, Run& run);
void add_completion(Command& app, Run& run);

}  // namespace ayatori::cli
