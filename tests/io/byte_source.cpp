#include "ayatori/io/byte_source.hpp"

#include <unistd.h>

#include "ayatori/io/compression/codec.hpp"
#include "error_text.hpp"
#include "temporary_folder.hpp"

namespace ayatori::io {
namespace {

std::string refusal(const std::string& path) {
  try {
    const FileBytes file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return {};
}

TEST(ByteSource, FileGivesAnyRange) {
  const TemporaryFolder folder(comm::Comm::world());
  const FileBytes file(folder.file("f", "0123456789"));
  EXPECT_EQ(file.size(), 10);
  std::string bytes(4, ' ');
  EXPECT_EQ(file.read(3, bytes), 4U);
  EXPECT_EQ(bytes, "3456");
  EXPECT_EQ(file.read(8, bytes), 2U);
  EXPECT_EQ(bytes.substr(0, 2), "89");
  EXPECT_EQ(file.read(10, bytes), 0U);
}

TEST(ByteSource, BeyondFourGigabytes) {
  const TemporaryFolder folder(comm::Comm::world());
  const std::string path = folder.file("sparse", "");
  constexpr std::int64_t far = (std::int64_t{1} << 32) + 5;
  if (comm::Comm::world().rank() == 0) {
    std::filesystem::resize_file(path, far);
    std::ofstream(path, std::ios::app) << "end";
  }
  comm::Comm::world().barrier();
  const FileBytes file(path);
  EXPECT_EQ(file.size(), far + 3);
  std::string bytes(3, ' ');
  EXPECT_EQ(file.read(far, bytes), 3U);
  EXPECT_EQ(bytes, "end");
}

TEST(ByteSource, WhatIsNotAFileIsRefused) {
  const TemporaryFolder folder(comm::Comm::world());
  EXPECT_EQ(refusal(folder.path("none")),
            folder.path("none") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(refusal(folder.path("")), folder.path("") + ": is a directory, not a file");
  EXPECT_EQ(refusal("/dev/null"), "/dev/null: is not a regular file");
}

TEST(ByteSource, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFolder folder(comm::Comm::world());
  const std::string path = folder.file("f", "x");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(refusal(path), path + ": cannot be opened: Permission denied");
}

TEST(ByteSource, Memory) {
  const MemoryBytes memory(std::string_view("abc"));
  std::string bytes(5, ' ');
  EXPECT_EQ(memory.read(1, bytes), 2U);
  EXPECT_EQ(bytes.substr(0, 2), "bc");
  EXPECT_EQ(memory.read(7, bytes), 0U);
}

TEST(ByteSource, StreamsInflate) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i);
  const std::string members = compress_gzip(text) + compress_gzip("") + compress_gzip("end");
  EXPECT_EQ(all_bytes(MemoryBytes(members), 1 << 30), text + "end");
  EXPECT_EQ(all_bytes(MemoryBytes(text), 1 << 30), text);
  EXPECT_EQ(first_bytes(MemoryBytes(members), 10), text.substr(0, 10));
  EXPECT_EQ(first_bytes(MemoryBytes(std::string_view("ab")), 10), "ab");
  EXPECT_TRUE(is_compressed(MemoryBytes(members)));
  EXPECT_FALSE(is_compressed(MemoryBytes(text)));
  EXPECT_FALSE(is_compressed(MemoryBytes(std::string_view("\x1f"))));
}

TEST(ByteSource, AllBytesHasALimit) {
  const std::string bytes = compress_gzip(std::string(1000, 'x'));
  EXPECT_EQ(all_bytes(MemoryBytes(bytes, "f"), 1000).size(), 1000U);
  EXPECT_THROW(all_bytes(MemoryBytes(bytes, "f"), 999), InputError);
}

TEST(ByteSource, RowsHaveALimit) {
  EXPECT_EQ(most_rows(MemoryBytes(std::string_view(""))), 1 << 20);
  EXPECT_EQ(most_rows(MemoryBytes(std::string_view("abc"))), (1 << 20) + 3 * 1024);
}

TEST(ByteSource, Quoted) {
  EXPECT_EQ(in_quotes("abc"), "'abc'");
  EXPECT_EQ(in_quotes("a\tb\n"), "'a?b?'");
  EXPECT_EQ(in_quotes(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace ayatori::io
