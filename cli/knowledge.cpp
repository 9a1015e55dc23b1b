#include <fmt/core.h>

#include <memory>

#include "ayatori/base/json.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/tuning/memory/knowledge.hpp"
#include "cli/command.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The command line of the subcommands, as typed.
struct KnowledgeArguments {
  std::string knowledge = "auto";
  std::string key;
  std::string file;
  bool all = false;
};

tuning::KnowledgeBase base_of(const KnowledgeArguments& arguments) {
  const auto folder =
      arguments.knowledge == "auto" ? tuning::default_knowledge_folder() : arguments.knowledge;
  if (folder == "none") throw InputError("there is no knowledge base: name a folder with --knowledge");
  return tuning::KnowledgeBase(folder);
}

/// Lessons whose keys begin as the one asked for; what is no lesson is said. Throws InputError if there are
/// none.
std::vector<tuning::Lesson> lessons_of(const KnowledgeArguments& arguments) {
  const auto base = base_of(arguments);
  auto [lessons, ignored] = base.read();
  for (const auto& line : ignored) fmt::print(stderr, "{}\n", line);
  std::erase_if(lessons, [&](const auto& lesson) { return !lesson.key().starts_with(arguments.key); });
  if (lessons.empty() && !arguments.key.empty())
    throw InputError(fmt::format("{}: nothing is known by the key {}", base.folder(), arguments.key));
  return lessons;
}

void list(const KnowledgeArguments& arguments) {
  const auto lessons = lessons_of(arguments);
  for (const auto& lesson : lessons) {
    const auto& s = lesson.situation;
    fmt::print("{}  {} x {}  {:.0e}  {} solve{}  {} failed  {}: {}\n", lesson.key(), s.ranks, s.threads,
               s.rtol, lesson.solves, lesson.solves == 1 ? "" : "s", lesson.failed.size(), lesson.source,
               lesson.best ? fmt::format("{} in {:.3g} s", describe(*lesson.best), lesson.seconds)
                           : "nothing has worked yet");
  }
  fmt::print(stderr, "{} lesson{} in {}\n", lessons.size(), lessons.size() == 1 ? "" : "s",
             base_of(arguments).folder());
}

std::string as_text(const std::vector<tuning::Lesson>& lessons) {
  Json json = Json::array();
  for (const auto& lesson : lessons) json.push_back(to_json(lesson));
  return json.dump(2) + "\n";
}

void show(const KnowledgeArguments& arguments) {
  fmt::print("{}", as_text(lessons_of(arguments)));
}

void forget(const KnowledgeArguments& arguments) {
  if (arguments.all == !arguments.key.empty())
    throw InputError("say what to forget: the beginning of a key, or --all");
  const auto base = base_of(arguments);
  const int count = base.forget(arguments.key);
  if (count == 0 && !arguments.all)
    throw InputError(fmt::format("{}: nothing is known by the key {}", base.folder(), arguments.key));
  fmt::print(stderr, "{} lesson{} forgotten\n", count, count == 1 ? "" : "s");
}

void export_to(const KnowledgeArguments& arguments) {
  write_file(arguments.file, as_text(lessons_of(arguments)));
}

/// All of a file, or nothing.
void import_from(const KnowledgeArguments& arguments) {
  const auto json = naming(arguments.file, [&] { return read_ordered_json(arguments.file); });
  if (!json.is_array()) throw InputError(fmt::format("{}: no list of lessons", arguments.file));
  std::vector<tuning::Lesson> lessons;
  try {
    for (const Json& lesson : json) lessons.push_back(tuning::lesson_from_json(lesson));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: lesson {}: {}", arguments.file, lessons.size() + 1, error.what()));
  }
  const auto base = base_of(arguments);
  for (auto& lesson : lessons) base.store(std::move(lesson));
  fmt::print(stderr, "{} lesson{} taken into {}\n", json.size(), json.size() == 1 ? "" : "s", base.folder());
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
