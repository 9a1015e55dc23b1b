#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "ayatori/comm/comm.hpp"

namespace ayatori::cli {

/// What the chosen subcommand does after the command line is parsed: collective, gives the exit status.
using Run = std::function<int(const comm::Comm& world)>;

/// One function per subcommand, in the file of its name: declares its options in `app` and, when chosen, sets
/// `run`.
using AddCommand = void (*)(CLI::App& app, Run& run);

void add_solve(CLI::App& app, Run& run);
void add_generate(CLI::App& app, Run& run);
void add_bench(CLI::App& app, Run& run);
void add_probe(CLI::App& app, Run& run);
void add_collectives(CLI::App& app, Run& run);
void add_map(CLI::App& app, Run& run);
void add_predict(CLI::App& app, Run& run);
void add_report(CLI::App& app, Run& run);
void add_eigen(CLI::App& app, Run& run);
void add_knowledge(CLI::App& app, Run& run);

}  // namespace ayatori::cli
