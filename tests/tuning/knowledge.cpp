#include "ayatori/tuning/memory/knowledge.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "ayatori/base/error.hpp"

namespace ayatori::tuning {
namespace {

const Choice cg{"cg", "jacobi", 0, "", "csr", "allgather"};
const Choice gmres{"gmres", "block-ilu0", 60, "mgs", "dia", "neighbor+overlap"};

/// A report of a solve that CG failed at and GMRES finished.
SolveReport report() {
  SolveReport report;
  report.status = Status::converged;
  report.facts.rows = 1000;
  report.facts.nonzeros = 5000;
  report.facts.symmetric = report.facts.pattern_symmetric = true;
  report.facts.positive_diagonals = 1000;
  report.choice = gmres;
  report.iterations = 77;
  report.seconds.total = 2.5;
  report.trials = {{cg, "", "breakdown", "", 12, 0.5, 0, 0}, {gmres, "", "converged", "", 65, 1e-9, 0, 0}};
  report.considered = {{"kernel", "csr", "slower", "", 0, 1e-3},
                       {"kernel", "dia", "faster", "", 0, 5e-4},
                       {"kernel", "sell", "not tried", "", 0, 0}};
  return report;
}

const Situation here{"a machine", 4, 2, 1e-8};
const sparse::Fingerprint matrix{11, 22};

Lesson lesson(const SolveReport& of = report(), const Situation& where = here, const Forced& forced = {}) {
  return learn(of, matrix, "A.mtx", where, forced);
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ayatori-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw EnvironmentError("no temporary folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_ + "/knowledge"; }  // made by whoever writes first

 private:
  std::string path_;
};

TEST(Lesson, RemembersWhatWorkedWhatFailedAndWhatWasSlower) {
  const Lesson learned = lesson();
  EXPECT_EQ(learned.best, gmres);
  EXPECT_EQ(learned.seconds, 2.5);
  ASSERT_EQ(learned.failed.size(), 1U);
  EXPECT_EQ(learned.failed[0].choice, cg);
  EXPECT_EQ(learned.lost, std::vector<std::string>{"csr"});
}

TEST(Lesson, WhatWasForcedIsNoPreference) {
  Forced forced;
  forced.method = "gmres";
  EXPECT_FALSE(lesson(report(), here, forced).best);
  EXPECT_EQ(lesson(report(), here, forced).failed.size(), 1U);
  forced = {};
  forced.kernel = "dia";
  EXPECT_EQ(lesson(report(), here, forced).best->kernel, "");
}

TEST(Lesson, SurvivesJson) {
  const Lesson learned = lesson();
  const auto json = to_json(learned);
  EXPECT_EQ(to_json(lesson_from_json(json)), json);
  EXPECT_EQ(lesson_from_json(json).key(), learned.key());
}

TEST(Lesson, ForeignJsonIsAnError) {
  const auto good = to_json(lesson());
  for (const auto& [key, value] : good.items()) {
    SCOPED_TRACE(key);
    auto without = good;
    without.erase(key);
    EXPECT_THROW(lesson_from_json(without), InputError);
    auto nonsense = good;
    nonsense[key] = {{"no", "sense"}};
    EXPECT_THROW(lesson_from_json(nonsense), InputError);
  }
  auto unknown = good;
  unknown["best"]["method"] = "magic";
  EXPECT_THROW(lesson_from_json(unknown), InputError);
  EXPECT_THROW(lesson_from_json(nlohmann::ordered_json::array()), InputError);
}

TEST(Lesson, SenselessValuesAreErrors) {
  const auto good = to_json(lesson());
  ASSERT_NO_THROW(lesson_from_json(good));
  const auto in_a_week = good["written"].get<std::int64_t>() + 7 * 24 * 3600;
  const std::vector<std::pair<const char*, nlohmann::ordered_json>> senseless{
      {"/seconds", -1},
      {"/seconds", 0},
      {"/seconds", 1e300},
      {"/seconds", nullptr},
      {"/iterations", -1},
      {"/iterations", 0},
      {"/iterations", 1e300},
      {"/solves", 0},
      {"/solves", -5},
      {"/solves", 2147483648},
      {"/written", -1},
      {"/written", in_a_week},
      {"/lost/0", "magic"},
      {"/lost", nlohmann::ordered_json(std::vector<std::string>(1001, "csr"))},
      {"/best/method", "magic"},
      {"/best/restart", 1e10},
      {"/best/restart", -60},
      {"/best/orthogonalization", "magic"},
      {"/failed/0/choice/preconditioner", "magic"},
      {"/failed/0/choice/orthogonalization", "magic"},
      {"/failed/0/why", 7},
      {"/situation/ranks", 0},
      {"/situation/ranks", 1e9},
      {"/situation/ranks", 1.5},
      {"/situation/threads", -1},
      {"/situation/rtol", 0},
      {"/situation/rtol", 1},
      {"/situation/rtol", -1e-8},
      {"/matrix/pattern", "11"},
      {"/matrix/facts/rows", 0},
      {"/matrix/facts/rows", 1e300},
      {"/matrix/facts/nonzeros", -1},
      {"/matrix/facts/max_row_nonzeros", 5001},
      {"/matrix/facts/min_row_nonzeros", 5001},
      {"/matrix/facts/positive_diagonals", 1001},
      {"/matrix/facts/zero_diagonals", 1},
      {"/matrix/facts/dominant_rows", 1.5},
      {"/matrix/facts/diffusive_rows", -0.5},
      {"/matrix/facts/asymmetry", 1e300}};
  for (const auto& [place, value] : senseless) {
    SCOPED_TRACE(place + (" = " + value.dump()));
    auto bad = good;
    bad.at(nlohmann::ordered_json::json_pointer(place)) = value;
    EXPECT_THROW(lesson_from_json(bad), InputError);
  }
}

TEST(Lesson, WordsThatWouldSteerATerminalAreCleaned) {
  auto json = to_json(lesson());
  json["matrix"]["source"] = "A\x1b[2J.mtx";
  json["failed"][0]["why"] = std::string(100000, '\a');
  const Lesson read = lesson_from_json(json);
  EXPECT_EQ(read.source, "A?[2J.mtx");
  EXPECT_LT(read.failed[0].why.size(), 2000U);
  EXPECT_EQ(learn(report(), matrix, "caf\xe9.mtx", here, {}).source, "caf?.mtx")
      << "or it could not be written";
}

TEST(Lesson, ATimeThatItsOwnNumericsMissByFarIsNoRecord) {
  auto boast = lesson();
  boast.seconds = 1e-8;
  EXPECT_EQ(merge(boast, lesson()).seconds, 2.5);
  auto slow = lesson();
  slow.seconds = 9;
  EXPECT_EQ(merge(lesson(), slow).seconds, 2.5) << "one slow solve does not refute it";
}

TEST(Lesson, SolvesAreCountedWithoutOverflow) {
  auto many = lesson();
  many.solves = most_solves;
  EXPECT_EQ(merge(many, many).solves, most_solves);
}

TEST(Lesson, TheNewerIsRightAboutFailuresAndTheFasterIsBest) {
  auto slower = report();
  slower.choice = cg;
  slower.seconds.total = 9;
  slower.trials = {{cg, "", "converged", "", 12, 1e-9, 0, 0}};
  const Lesson both = merge(lesson(), lesson(slower));
  EXPECT_EQ(both.solves, 2);
  EXPECT_EQ(both.best, gmres);
  EXPECT_TRUE(both.failed.empty()) << "CG has worked since";

  auto failing = report();
  failing.status = Status::not_converged;
  failing.trials = {{gmres, "", "stagnated", "", 65, 0.1, 0, 0}};
  const Lesson after = merge(lesson(), lesson(failing));
  EXPECT_FALSE(after.best);
  EXPECT_EQ(after.failed.size(), 2U);
}

TEST(Recall, TheSameMatrixInTheSameSituationIsFamiliar) {
  const std::vector<Lesson> lessons{lesson()};
  const auto [experience, likeness, key] = recall(lessons, matrix, report().facts, here);
  EXPECT_EQ(likeness, "same matrix");
  EXPECT_EQ(key, lessons[0].key());
  EXPECT_EQ(experience.best, gmres);
  EXPECT_TRUE(experience.familiar);
  EXPECT_EQ(experience.lost.size(), 1U);
  EXPECT_EQ(experience.failed.size(), 1U);
}

TEST(Recall, ElsewhereTheNumericsAreTakenAndNoKernels) {
  const std::vector<Lesson> lessons{lesson()};
  for (const Situation& other : {Situation{"another", 4, 2, 1e-8}, Situation{"a machine", 8, 2, 1e-8}}) {
    const auto experience = recall(lessons, matrix, report().facts, other).experience;
    ASSERT_TRUE(experience.best);
    EXPECT_TRUE(same_numerics(*experience.best, gmres));
    EXPECT_EQ(experience.best->kernel, "");
    EXPECT_TRUE(experience.lost.empty());
    EXPECT_FALSE(experience.familiar);
  }
}

TEST(Recall, FailuresCountAtTheSameOrAStricterTolerance) {
  const std::vector<Lesson> lessons{lesson()};
  auto situation = here;
  situation.rtol = 1e-12;
  EXPECT_EQ(recall(lessons, matrix, report().facts, situation).experience.failed.size(), 1U);
  situation.rtol = 1e-2;
  EXPECT_TRUE(recall(lessons, matrix, report().facts, situation).experience.failed.empty());
}

TEST(Recall, NearestFirst) {
  auto other_values = lesson();
  other_values.matrix.values = 23;
  other_values.best->method = "minres";
  other_values.best->restart = 0;
  auto other_pattern = other_values;
  other_pattern.matrix.pattern = 12;
  other_pattern.best->method = "bicgstab";
  std::vector<Lesson> lessons{other_pattern};
  const auto likeness = [&] { return recall(lessons, matrix, report().facts, here).likeness; };
  EXPECT_EQ(likeness(), "similar matrix");
  lessons.push_back(other_values);
  EXPECT_EQ(likeness(), "same pattern");
  lessons.push_back(lesson());
  EXPECT_EQ(likeness(), "same matrix");

  auto facts = report().facts;
  facts.symmetric = false;
  lessons = {other_pattern};
  EXPECT_EQ(recall(lessons, matrix, facts, here).likeness, "") << "an unsymmetric one is not like it";
  facts = report().facts;
  facts.rows = facts.positive_diagonals = 100000;
  EXPECT_EQ(recall(lessons, matrix, facts, here).likeness, "") << "one a hundred times as large neither";
}

TEST(KnowledgeBase, KeepsMergesAndForgets) {
  const Folder folder;
  const KnowledgeBase base(folder.path());
  EXPECT_TRUE(base.read().lessons.empty());
  base.store(lesson());
  base.store(lesson());
  auto elsewhere = here;
  elsewhere.ranks = 1;
  base.store(lesson(report(), elsewhere));
  const auto lessons = base.read().lessons;
  ASSERT_EQ(lessons.size(), 2U);
  EXPECT_EQ(lessons[0].solves + lessons[1].solves, 3);
  auto of_another = lesson();
  of_another.matrix.values += 1;
  base.store(of_another);
  EXPECT_EQ(base.read(beginning_of_keys(lesson().matrix)).lessons.size(), 2U);
  EXPECT_EQ(base.read(beginning_of_keys(of_another.matrix)).lessons.size(), 1U);
  EXPECT_EQ(base.read().lessons.size(), 3U);
  EXPECT_EQ(base.forget(beginning_of_keys(of_another.matrix)), 1);
  EXPECT_EQ(base.forget(lesson().key()), 1);
  EXPECT_EQ(base.forget(""), 1);
  EXPECT_TRUE(base.read().lessons.empty());
}

TEST(KnowledgeBase, TornAndForeignFilesAreIgnoredWithALine) {
  const Folder folder;
  const KnowledgeBase base(folder.path());
  const std::string path = base.store(lesson());
  const std::string text = to_json(lesson()).dump();
  std::ofstream(folder.path() + "/torn.json") << text.substr(0, text.size() / 2);
  std::ofstream(folder.path() + "/renamed.json") << text;
  std::ofstream(folder.path() + "/list.json") << "[1, 2]";
  std::ofstream(folder.path() + "/notes.txt") << "nothing of ours";
  const auto content = base.read();
  EXPECT_EQ(content.lessons.size(), 1U);
  ASSERT_EQ(content.ignored.size(), 3U);
  for (const auto& line : content.ignored) EXPECT_NE(line.find(": ignored: "), std::string::npos);

  std::ofstream(path) << "torn";
  EXPECT_TRUE(base.read().lessons.empty());
  base.store(lesson());
  EXPECT_EQ(base.read().lessons.size(), 1U) << "a torn one is replaced";
}

TEST(KnowledgeBase, WhatIsNoRegularFileIsIgnoredWithALine) {
  const Folder folder;
  const KnowledgeBase base(folder.path());
  const std::string path = base.store(lesson());
  ASSERT_EQ(mkfifo((folder.path() + "/pipe.json").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder.path() + "/endless.json");
  std::filesystem::create_symlink("nowhere", folder.path() + "/dangling.json");
  std::filesystem::create_directory(folder.path() + "/folder.json");
  std::ofstream(folder.path() + "/large.json") << std::string(2 << 20, ' ');
  std::ofstream(folder.path() + "/deep.json") << std::string(300000, '[');
  std::ofstream(folder.path() + "/\x1b[2J.json") << "{}";
  const auto content = base.read();
  EXPECT_EQ(content.lessons.size(), 1U);
  ASSERT_EQ(content.ignored.size(), 7U);
  for (const auto& line : content.ignored) EXPECT_EQ(line.find('\x1b'), std::string::npos);
  const auto says = [&](const std::string& text) {
    return std::ranges::any_of(content.ignored, [&](const auto& line) { return line.ends_with(text); });
  };
  EXPECT_TRUE(says("/pipe.json: ignored: is not a regular file"));
  EXPECT_TRUE(says("/endless.json: ignored: is not a regular file"));
  EXPECT_TRUE(says("/folder.json: ignored: is a directory, not a file"));
}

TEST(KnowledgeBase, NothingIsWrittenThroughPipesAndLinks) {
  const Folder folder;
  const KnowledgeBase base(folder.path());
  const std::string path = base.store(lesson());
  const std::string others = folder.path() + "/../thesis.txt";
  std::ofstream(others) << "years of work";
  std::filesystem::remove(path);
  std::filesystem::create_symlink("../thesis.txt", path);
  EXPECT_THROW(base.store(lesson()), EnvironmentError);
  EXPECT_EQ(std::filesystem::file_size(others), 13U);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(base.store(lesson()), EnvironmentError);
}

TEST(KnowledgeBase, ManyWritersAndReaders) {
  const Folder folder;
  const KnowledgeBase base(folder.path());
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 10; ++i) {
        auto where = here;
        where.ranks = 1 + (i + w) % 3;
        base.store(lesson(report(), where));
        EXPECT_TRUE(base.read().ignored.empty()) << "no reader sees half a file";
      }
    });
  for (auto& writer : writers) writer.join();
  const auto lessons = base.read().lessons;
  ASSERT_EQ(lessons.size(), 3U);
  EXPECT_EQ(lessons[0].solves + lessons[1].solves + lessons[2].solves, 40) << "nobody's lesson is lost";
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().filename() == ".lock") continue;
    EXPECT_EQ(entry.path().extension(), ".json") << "no temporary file is left";
  }
}

TEST(KnowledgeBase, ClearsAwayWhatKilledWritersHaveLeft) {
  const Folder folder;
  const KnowledgeBase base(folder.path());
  const std::string path = base.store(lesson());
  const auto leave = [&](const std::string& name, std::chrono::hours ago) {
    const auto full = std::filesystem::path(folder.path()) / name;
    std::ofstream(full) << "half a less";
    std::filesystem::last_write_time(full, std::filesystem::file_time_type::clock::now() - ago);
    return full;
  };
  using std::chrono::hours;
  const auto old = leave(std::filesystem::path(path).filename().string() + ".aB3xYz", hours(2));
  const auto of_another = leave("0123.json.aB3xYz", hours(2));
  const auto at_work = leave("4567.json.aB3xYz", hours(0));
  const auto not_ours = leave("notes.aB3xYz", hours(2));
  base.store(lesson());
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_FALSE(std::filesystem::exists(of_another));
  EXPECT_TRUE(std::filesystem::exists(at_work)) << "somebody may be writing it";
  EXPECT_TRUE(std::filesystem::exists(not_ours));
  EXPECT_EQ(base.read().lessons.size(), 1U);
}

TEST(KnowledgeBase, AnotherWritersLockIsWaitedForButNotForEver) {
  const Folder folder;
  const KnowledgeBase base(folder.path());
  base.store(lesson());
  const int lock = open((folder.path() + "/.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  std::thread writer([&] { base.store(lesson()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(base.read().lessons.at(0).solves, 1) << "it waits";
  writer.join();
  EXPECT_EQ(base.read().lessons.at(0).solves, 2);
  close(lock);
}

}  // namespace
}  // namespace ayatori::tuning
