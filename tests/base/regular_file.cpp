#include "ayatori/base/regular_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ayatori/base/error.hpp"

namespace ayatori {
namespace {

namespace fs = std::filesystem;

class RegularFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ayatori-test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string place(const std::string& name) const { return folder_ / name; }

  static std::string error_of(const std::string& path) {
    try {
      read_regular_file(path, 1 << 20);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(RegularFile, IsReadToItsEnd) {
  for (const std::size_t size : {0, 1, 65535, 65536, 300001}) {
    const std::string text(size, 'x');
    std::ofstream(place("file")) << text;
    EXPECT_EQ(read_regular_file(place("file"), 300001), text);
  }
  fs::create_symlink("file", place("link"));
  EXPECT_EQ(read_regular_file(place("link"), 300001).size(), 300001U);
  EXPECT_THROW(read_regular_file(place("file"), 300000), InputError);
  EXPECT_NO_THROW(check_regular_file(place("file")));
}

TEST_F(RegularFile, NothingElseIsWaitedFor) {
  ASSERT_EQ(mkfifo(place("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", place("endless"));
  fs::create_symlink("loop", place("loop"));
  fs::create_symlink("gone", place("dangling"));
  EXPECT_EQ(error_of(place("pipe")), "is not a regular file");
  EXPECT_EQ(error_of(place("endless")), "is not a regular file");
  EXPECT_EQ(error_of("/dev/null"), "is not a regular file");
  EXPECT_EQ(error_of(folder_), "is a directory, not a file");
  for (const char* name : {"loop", "dangling", "none"})
    EXPECT_TRUE(error_of(place(name)).starts_with("cannot be read: ")) << name;
  try {
    check_regular_file(place("pipe"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), place("pipe") + ": is not a regular file");
  }
}

TEST_F(RegularFile, OfAnUnknownSizeIsReadAllTheSame) {
  EXPECT_FALSE(read_regular_file("/proc/self/status", 1 << 20).empty());  // the kernel says 0 bytes
}

}  // namespace
}  // namespace ayatori
