#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "ayatori/base/temporary_file.hpp"
#include "cli/command.hpp"

namespace ayatori::cli {

namespace {

struct ManArguments {
  std::vector<std::string> words;
  std::string folder;
};

/// The command that the words lead to. Throws what the parser throws.
const CommandFacts& find(const CommandFacts& root, const std::vector<std::string>& words) {
  const CommandFacts* command = &root;
  for (const auto& word : words) {
    const CommandFacts* next = nullptr;
    for (const auto& below : command->commands)
      if (below.name() == word) next = &below;
    if (next == nullptr) throw_wrong(fmt::format("man: '{}' has no command '{}'", command->path, word));
    command = next;
  }
  return *command;
}

/// Throws EnvironmentError.
void write_pages(const CommandFacts& root, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto* command : with_descendants(root))
    write_file(fmt::format("{}/{}.1", folder, manual_name(*command)), manual_page(*command));
}

}  // namespace

void add_man(Command& app, Run& /*none: the callback answers*/) {
  auto arguments = std::make_shared<ManArguments>();
  auto* command = app.add_subcommand("man", "A manual page: ayatori man solve | man -l -");
  command->examples({{"ayatori man solve", "one page; to read it: ayatori man solve | man -l -"},
                     {"ayatori man --folder man1", "the pages of all commands, as files"}});
  auto* words = command->add_option("command", arguments->words, "Of this command, for example: bench spmv");
  command->add_option("--folder", arguments->folder, "Write the pages of all commands here")->excludes(words);
  command->callback([arguments, &app] {
    const CommandFacts root = app.facts();
    if (arguments->folder.empty()) throw Answer{manual_page(find(root, arguments->words))};
    write_pages(root, arguments->folder);
    throw Answer{""};
  });
}

}  // namespace ayatori::cli
