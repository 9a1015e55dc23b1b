#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/collectives/search/search.hpp"
#include "cli/command.hpp"
#include "cli/parser/command_line.hpp"

// What the subcommands of `ayatori collectives` share; each is in the file of its name.

namespace ayatori::cli {

/// Like AddCommand: adds a subcommand to `collectives`.
void add_collectives_words(Command& collectives, Run& run);
void add_collectives_show(Command& collectives, Run& run);
void add_collectives_search(Command& collectives, Run& run);
void add_collectives_bench(Command& collectives, Run& run);
void add_collectives_tune(Command& collectives, Run& run);
void add_collectives_adapt(Command& collectives, Run& run);

/// "64K": a number of bytes. Throws InputError.
std::int64_t parse_bytes(const std::string& text);

/// Bytes, from the first to the second.
struct SizeRange {
  std::int64_t first;
  std::int64_t last;
};
/// "8:64M", or "8" alone. Throws InputError.
SizeRange parse_size_range(const std::string& text);

/// "8:64M": from the first to the second, doubling, in bytes. Throws InputError.
std::vector<std::int64_t> parse_sizes(const std::string& text);

/// The operations of these names, or all where there are none. Throws InputError.
std::vector<collectives::Operation> operations_of(const std::vector<std::string>& names);

/// What a search has found, as ScheduleTable reads it. `machine`: what its profile is called.
nlohmann::ordered_json schedules_json(collectives::Operation operation, int ranks, const std::string& machine,
                                      std::span<const collectives::SizeChoice> choices);

/// As long as the terminal shows it.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace ayatori::cli
