#include <array>
#include <memory>

#include "cli/command.hpp"

namespace ayatori::cli {

namespace {

struct Shell {
  const char* name;
  std::string (*script)(const CommandFacts& root);
};
constexpr std::array<Shell, 2> shells{{{"bash", bash_completion}, {"zsh", zsh_completion}}};

}  // namespace

void add_completion(Command& app, Run& /*none: the callback answers*/) {
  auto name = std::make_shared<std::string>();
  auto* command = app.add_subcommand("completion", "The script that completes ayatori's words in a shell");
  command->examples({{"ayatori completion bash", "for ~/.bashrc: eval \"$(ayatori completion bash)\""},
                     {"ayatori completion zsh", "for ~/.zshrc"}});
  command->add_option("shell", *name, "For: eval \"$(ayatori completion bash)\"")
      ->check(one_of(names_in(shells)))
      ->required();
  command->callback([name, &app] {
    for (const Shell& shell : shells)
      if (*name == shell.name) throw Answer{shell.script(app.facts())};
  });
}

}  // namespace ayatori::cli
