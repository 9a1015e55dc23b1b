#include "cli/collectives/collectives.hpp"

#include <fmt/format.h>

#include "ayatori/base/byte_size.hpp"
#include "ayatori/base/error.hpp"

namespace ayatori::cli {

void add_operation(Command& command, std::string& operation) {
  command.add_option("operation", operation, "broadcast, reduce, allreduce, gather, ...")->required();
}

void add_sizes(Command& command, std::string& sizes) {
  command.add_option("--sizes", sizes, "Bytes of the buffer, from:to, doubling")->capture_default_str();
}

void add_profile(Command& command, std::string& profile) {
  command.add_option("--profile", profile, "auto, a file, or the name of a published machine")
      ->capture_default_str();
}

void add_table(Command& command, std::string& table) {
  command.add_option("--output,-o", table, "The table (schema ayatori.collective-schedules/1)")->required();
}

SizeRange parse_size_range(const std::string& text) {
  const auto colon = text.find(':');
  const std::int64_t first = parse_bytes(text.substr(0, colon));
  const std::int64_t last = colon == std::string::npos ? first : parse_bytes(text.substr(colon + 1));
  if (last < first) throw InputError(fmt::format("--sizes {}: the second is less than the first", text));
  return {first, last};
}

std::vector<std::int64_t> parse_sizes(const std::string& text) {
  const auto [first, last] = parse_size_range(text);
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

std::vector<collectives::Operation> operations_of(const std::vector<std::string>& names) {
  std::vector<collectives::Operation> operations;
  for (const auto& name : names) operations.push_back(collectives::operation(name));
  if (names.empty()) {
    for (const auto& type : collectives::operations()) operations.push_back(type.operation);
  }
  return operations;
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

void add_collectives(Command& app, Run& run) {
  auto* command =
      app.add_subcommand("collectives", "Collective operations as data: words, schedules, search");
  command->examples(
      {{"ayatori collectives show bcast --word MMSCCS --ranks 16", "a broadcast, round by round"},
       {"mpirun -n 2 ayatori collectives tune --operations allreduce --sizes 1K:4K --seconds 1 -o table.json",
        "races schedules against the MPI here"},
       {"mpirun -n 2 ayatori collectives bench --table table.json --seconds 1",
        "those that won, timed again"}});
  command->require_subcommand(1);
  for (const AddCommand add : {add_collectives_words, add_collectives_show, add_collectives_bench,
                               add_collectives_tune, add_collectives_adapt, add_collectives_search})
    add(*command, run);
}

}  // namespace ayatori::cli
