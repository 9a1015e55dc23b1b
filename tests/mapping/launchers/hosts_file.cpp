#include "ayatori/mapping/launchers/hosts_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"

namespace ayatori::mapping {
namespace {

class HostsFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / "ayatori-test.XXXXXX").string();
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::vector<Host> read(std::string_view content) const {
    write_file(path_ + "/hosts", content, Outlives::process);
    return read_hosts(path_ + "/hosts");
  }
  /// "a b:4", with what is known of slots.
  std::string names(std::string_view content) const {
    std::string text;
    for (const Host& host : read(content))
      text += (text.empty() ? "" : " ") + host.name + (host.slots ? fmt::format(":{}", *host.slots) : "");
    return text;
  }
  void expect_refused(std::string_view content, const std::string& words) const {
    try {
      read(content);
      ADD_FAILURE() << "accepted: " << content;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  std::string path_;
};

TEST_F(HostsFile, HasAHostOnEveryLine) {
  EXPECT_EQ(names("node0\nnode-1.example.org\r\n10.0.0.7\nnode_3"),
            "node0 node-1.example.org 10.0.0.7 node_3");
  EXPECT_EQ(names(""), "");
}

TEST_F(HostsFile, CommentsAndBlankLinesAreNoHosts) {
  EXPECT_EQ(names("#nodes\na\n\n  \t\n# b\nc # the last\nd#e\n"), "a c d");
  const auto hosts = read("# two\n\na\nb\n");
  EXPECT_EQ(hosts.at(0).line, 3);
  EXPECT_EQ(hosts.at(1).line, 4);
}

TEST_F(HostsFile, SlotsAreReadAsLaunchersWriteThem) {
  EXPECT_EQ(names("a slots=4\nb slots = 2 max_slots=8\nc max-slots=3\nd:16\n"), "a:4 b:2 c d:16");
}

TEST_F(HostsFile, EverythingElseIsRefusedByItsLine) {
  for (const std::string line : {"b slots=none",
                                 "b slots=",
                                 "b slots=0",
                                 "b slots=-1",
                                 "b slots",
                                 "b slots=99999999999",
                                 "b:",
                                 "b:two",
                                 "b:2:3",
                                 "b user=me",
                                 "b:2 binding=user:0",
                                 "b c",
                                 "me@b",
                                 "+n0",
                                 "^b",
                                 "b[0-3]",
                                 "a,b",
                                 "-x",
                                 "=4",
                                 "b=4",
                                 "\x1b[31m"})
    expect_refused("# hosts\na\n" + line + "\nc\n", "hosts, line 3: ");
  expect_refused("a\nb\n\na slots=2\n", "hosts, line 4: a is named in line 1 already");
  EXPECT_THROW(read_hosts(path_), InputError);
  EXPECT_THROW(read_hosts(path_ + "/none"), InputError);
}

}  // namespace
}  // namespace ayatori::mapping
