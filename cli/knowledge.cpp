#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/lessons.hpp"
#include "cli/command.hpp"

namespace ayatori::cli {

namespace {

/// The command line of the subcommands, as typed.
struct KnowledgeArguments {
  std::string knowledge = "auto";
  std::string key;
  std::string file;
  bool all = false;
};

tuning::KnowledgeBase base_of(const KnowledgeArguments& arguments) {
  return session::knowledge_base(arguments.knowledge);
}

/// Those asked for; what is no lesson is said. Throws InputError if there are none.
std::vector<tuning::Lesson> lessons_of(const KnowledgeArguments& arguments) {
  auto [lessons, ignored] = session::lessons_of(base_of(arguments), arguments.key);
  for (const auto& line : ignored) fmt::print(stderr, "{}\n", line);
  return lessons;
}

/// "1 lesson".
std::string counted(std::size_t count) {
  return fmt::format("{} lesson{}", count, count == 1 ? "" : "s");
}

void list(const KnowledgeArguments& arguments) {
  const auto lessons = lessons_of(arguments);
  for (const auto& lesson : lessons) fmt::print("{}\n", session::summary(lesson));
  fmt::print(stderr, "{} in {}\n", counted(lessons.size()), base_of(arguments).folder());
}

void show(const KnowledgeArguments& arguments) {
  fmt::print("{}", session::text_of(lessons_of(arguments)));
}

void forget(const KnowledgeArguments& arguments) {
  if (arguments.all == !arguments.key.empty())
    throw InputError("say what to forget: the beginning of a key, or --all");
  const auto base = base_of(arguments);
  const int count = base.forget(arguments.key);
  if (count == 0 && !arguments.all)
    throw InputError(fmt::format("{}: nothing is known by the key {}", base.folder(), arguments.key));
  fmt::print(stderr, "{} forgotten\n", counted(static_cast<std::size_t>(count)));
}

void export_to(const KnowledgeArguments& arguments) {
  write_file(arguments.file, session::text_of(lessons_of(arguments)));
}

void import_from(const KnowledgeArguments& arguments) {
  const auto base = base_of(arguments);
  const int count = session::import_lessons(base, arguments.file);
  fmt::print(stderr, "{} taken into {}\n", counted(static_cast<std::size_t>(count)), base.folder());
}

using Action = void (*)(const KnowledgeArguments& arguments);

/// A subcommand that rank 0 carries out.
Command* add(Command& knowledge, Run& run, const std::shared_ptr<KnowledgeArguments>& arguments,
             const std::string& name, const std::string& description, Action action) {
  auto* command = knowledge.add_subcommand(name, description);
  command
      ->add_option("--knowledge", arguments->knowledge, "Its folder; auto: AYATORI_KNOWLEDGE, or in the home")
      ->capture_default_str();
  command->callback([&run, arguments, action] {
    run = [arguments, action](const comm::Comm& world) {
      comm::agree(world, [&] {
        if (world.rank() == 0) action(*arguments);
      });
      return 0;
    };
  });
  return command;
}

}  // namespace

void add_knowledge(Command& app, Run& run) {
  auto arguments = std::make_shared<KnowledgeArguments>();
  auto* knowledge = app.add_subcommand("knowledge", "What earlier solves have taught");
  knowledge->examples({{"ayatori knowledge list", "a line for every lesson"},
                       {"ayatori knowledge export lessons.json", "to take along to another machine"}});
  knowledge->require_subcommand(1);
  add(*knowledge, run, arguments, "list", "A line for every lesson", list)
      ->examples({{"ayatori knowledge list", "a line for every lesson"},
                  {"ayatori knowledge list --knowledge elsewhere", "those of another folder"}});
  auto* showing = add(*knowledge, run, arguments, "show", "Lessons as JSON", show);
  showing->add_option("key", arguments->key, "Its beginning is enough; all without one");
  showing->examples({{"ayatori knowledge show", "all lessons"},
                     {"ayatori knowledge show > lessons.json", "the same, into a file"}});
  auto* exporting = add(*knowledge, run, arguments, "export", "Write all lessons to a file", export_to);
  exporting->add_option("file", arguments->file, "JSON")->required();
  exporting->examples({{"ayatori knowledge export lessons.json", "to take along to another machine"},
                       {"ayatori knowledge export -", "to standard output"}});
  auto* importing = add(*knowledge, run, arguments, "import", "Take lessons from a file", import_from);
  importing->add_option("file", arguments->file, "As export writes it")->required();
  importing->examples({{"ayatori knowledge import lessons.json", "adds them to what is known here"},
                       {"ayatori knowledge import lessons.json --knowledge elsewhere", "to another folder"}});
  auto* forgetting = add(*knowledge, run, arguments, "forget", "Remove lessons", forget);
  forgetting->add_option("key", arguments->key, "Its beginning is enough");
  forgetting->add_flag("--all", arguments->all, "Everything");
  forgetting->examples({{"ayatori knowledge forget --all --knowledge elsewhere", "all of another folder"},
                        {"ayatori knowledge forget --all", "all that is known here"}});
}

}  // namespace ayatori::cli
