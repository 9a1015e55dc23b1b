#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"

// What the subcommands of `ayatori collectives` share; each is in the file of its name.

namespace ayatori::cli {

/// Like AddCommand: adds a subcommand to `collectives`.
void add_collectives_words(CLI::App& collectives, Run& run);
void add_collectives_show(CLI::App& collectives, Run& run);
void add_collectives_search(CLI::App& collectives, Run& run);
void add_collectives_bench(CLI::App& collectives, Run& run);
void add_collectives_tune(CLI::App& collectives, Run& run);
void add_collectives_adapt(CLI::App& collectives, Run& run);

/// "8:64M": from the first to the second, doubling, in bytes. Throws InputError.
std::vector<std::int64_t> parse_sizes(const std::string& text);

/// As long as the terminal shows it.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace ayatori::cli
