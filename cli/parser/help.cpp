#include <memory>

#include "cli/command.hpp"

namespace ayatori::cli {

void add_help(Command& app, Run& /*none: the callback answers*/) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand("help", "What --help says: ayatori help solve");
  command->add_option("command", *words, "Of this command, for example: bench spmv");
  command->examples(
      {{"ayatori help", "the commands"}, {"ayatori help bench spmv", "the options of one of them"}});
  command->callback([words, &app] {
    const CommandFacts root = app.facts();
    if (const std::string wrong = explain_names(root, *words); !wrong.empty()) throw_wrong(wrong);
    throw Answer{app.help(root.path, *words)};
  });
}

}  // namespace ayatori::cli
