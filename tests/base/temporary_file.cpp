#include "ayatori/base/temporary_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "ayatori/base/error.hpp"

namespace ayatori {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

class TemporaryFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ayatori-test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "result.txt";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  /// Writing to `path` fails with an EnvironmentError that names it, and leaves nothing behind.
  void expect_refused(const fs::path& path) const {
    const std::ptrdiff_t before = files();
    try {
      write_file(path.string(), "content");
      FAIL() << path << " was written";
    } catch (const EnvironmentError& error) {
      EXPECT_NE(std::string(error.what()).find(path.string() + ": cannot be written: "), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(files(), before);
  }

  fs::path folder_;
  fs::path path_;
};

TEST_F(TemporaryFileTest, AppearsWholeAtCommit) {
  TemporaryFile file(path_.string());
  std::ofstream(file.temporary_path()) << "new";
  EXPECT_EQ(fs::path(file.temporary_path()).parent_path(), folder_);
  EXPECT_FALSE(fs::exists(path_));
  file.commit();
  EXPECT_EQ(content_of(path_), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(TemporaryFileTest, LeavesTheOldFileWithoutCommit) {
  write_file(path_.string(), "old");
  {
    const TemporaryFile file(path_.string());
    std::ofstream(file.temporary_path()) << "new";
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(content_of(path_), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(TemporaryFileTest, ReplacesAndKeepsEveryByte) {
  write_file(path_.string(), "a much longer old content");
  const std::string content("line\r\n\0binary", 13);
  write_file(path_.string(), content);
  EXPECT_EQ(content_of(path_), content);
}

TEST_F(TemporaryFileTest, HasTheModeOfAnOrdinaryFile) {
  const mode_t before = umask(027);
  write_file(path_.string(), "content");
  umask(before);
  EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0640));
}

TEST_F(TemporaryFileTest, WritersInParallelDoNotMeet) {
  TemporaryFile first(path_.string());
  TemporaryFile second(path_.string());
  EXPECT_NE(first.temporary_path(), second.temporary_path());
}

TEST_F(TemporaryFileTest, RefusesPlacesThatCannotHoldAFile) {
  expect_refused(folder_);
  expect_refused(folder_ / "missing" / "result.txt");
  write_file(path_.string(), "a file");
  expect_refused(path_ / "below-a-file");
  expect_refused("/proc/result.txt");  // unwritable even for root
  expect_refused(folder_ / std::string(300, 'x'));
}

TEST_F(TemporaryFileTest, CleansUpAfterAFailedCommit) {
  {
    TemporaryFile file(path_.string());
    fs::create_directories(path_ / "in the way");
    EXPECT_THROW(file.commit(), EnvironmentError);
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(TemporaryFileTest, WritesThroughASymbolicLink) {
  write_file(path_.string(), "old");
  const fs::path link = folder_ / "link";
  fs::create_symlink("result.txt", link);
  write_file(link.string(), "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content_of(path_), "new");
}

TEST_F(TemporaryFileTest, WritesAPipeDirectly) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content_of(path_); });
  write_file(path_.string(), "through");
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(fs::is_fifo(path_));
}

TEST_F(TemporaryFileTest, AddsToAFileThatIsOpen) {
  if (!fs::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc";
  const int descriptor = open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  ASSERT_EQ(write(descriptor, "before ", 7), 7);
  const fs::path link = folder_ / "link";
  fs::create_symlink(fmt::format("/dev/fd/{}", descriptor), link);
  write_file(link.string(), "amid ");
  EXPECT_EQ(write(descriptor, "after", 5), 5);
  close(descriptor);
  EXPECT_EQ(content_of(path_), "before amid after");
}

TEST_F(TemporaryFileTest, RemovesWhatWasAbandoned) {
  const auto leave = [&](const char* name, std::chrono::minutes ago) {
    write_file((folder_ / name).string(), "half");
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - ago);
  };
  using std::chrono::minutes;
  leave("result.txt.aB3xYz", minutes(90));
  leave("result.txt.fresh1", minutes(5));
  leave("result.txt.backup7", minutes(90));
  leave("another.txt.aB3xYz", minutes(90));
  remove_abandoned(folder_.string(), [](std::string_view name) { return name == "result.txt"; });
  EXPECT_FALSE(fs::exists(folder_ / "result.txt.aB3xYz"));
  EXPECT_EQ(files(), 3);
  remove_abandoned((folder_ / "none").string(), [](std::string_view) { return true; });
}

TEST_F(TemporaryFileTest, ChecksWithoutATrace) {
  check_writable(path_.string());
  EXPECT_EQ(files(), 0);
  write_file(path_.string(), "old");
  check_writable(path_.string());
  EXPECT_EQ(content_of(path_), "old");
  EXPECT_EQ(files(), 1);
  EXPECT_THROW(check_writable((folder_ / "none" / "x").string()), EnvironmentError);
  EXPECT_THROW(check_writable(folder_.string()), EnvironmentError);
  check_writable("/dev/null");
}

TEST_F(TemporaryFileTest, ReportsAFullDevice) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const fs::path link = folder_ / "full";  // a device itself could be replaced by code that is wrong
  fs::create_symlink("/dev/full", link);
  expect_refused(link);
  EXPECT_TRUE(fs::is_symlink(link));
}

}  // namespace
}  // namespace ayatori
