#include "ayatori/mapping/graph/traffic.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"

namespace ayatori::mapping {
namespace {

/// A file that is there for one test.
class File {
 public:
  explicit File(const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              (std::string("ayatori-") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    write_file(path_, content);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string error_of(Traffic (*read)(const std::string&), const std::string& content) {
  const File file(content);
  try {
    read(file.path());
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(file.path()), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

std::string trace(const std::string& messages, const std::string& ranks = "3",
                  const std::string& hosts = R"(["a", "a", "b"])") {
  return R"({"schema": "ayatori.trace/1", "mpi": "", "ranks": )" + ranks + R"(, "hosts": )" + hosts +
         R"(, "messages": )" + messages + R"(, "calls": [], "communicators": [{"members": [0, 1],
             "collectives": [{"call": "MPI_Allreduce", "calls": 2, "bytes": 64}]}]})";
}

TEST(Trace, MessagesHostsAndWhatIsInNoMessage) {
  const File file(trace("[[0, 1, 5, 100], [2, 0, 1, 7]]"));
  const auto traffic = read_trace(file.path());
  EXPECT_EQ(traffic.ranks, 3);
  EXPECT_EQ(traffic.hosts, (std::vector<std::string>{"a", "a", "b"}));
  ASSERT_EQ(traffic.messages.size(), 2U);
  EXPECT_EQ(traffic.messages[1].from, 2);
  EXPECT_EQ(traffic.messages[1].to, 0);
  EXPECT_EQ(traffic.messages[0].messages, 5);
  EXPECT_EQ(traffic.messages[0].bytes, 100);
  EXPECT_EQ(traffic.collective_bytes, 64);
}

TEST(Trace, NonsenseIsRefused) {
  EXPECT_NE(error_of(read_trace, "{"), "");
  EXPECT_NE(error_of(read_trace, R"({"schema": "ayatori.trace/2"})"), "");
  EXPECT_NE(error_of(read_trace, trace("[[0, 1]]")), "");
  EXPECT_NE(error_of(read_trace, trace("[]", "0", "[]")), "");
  EXPECT_NE(error_of(read_trace, trace("[]", "3", R"(["a"])")), "");
  EXPECT_THROW(read_trace("/no/such/trace"), InputError);
  for (const char* message :
       {"[0, 4294967297, 1, 1]", "[0, 3, 1, 1]", "[0, -1, 1, 1]", "[0, 1, 1.5, 1]",
        "[0, 1, 1, 9007199254740993]", "[0, 1, 1, 18446744073709551615]", "[0, 1, 1, 1, 1]"})
    EXPECT_NE(error_of(read_trace, trace(fmt::format("[{}]", message))), "") << message;
  EXPECT_NE(error_of(read_trace, trace("[]", "4294967299")), "");
  for (const char* hosts :
       {R"(["a", "a", ""])", R"(["a", "a", "b c"])", R"(["a", "a", "b\n"])", R"(["a", "a", 1])"})
    EXPECT_NE(error_of(read_trace, trace("[]", "3", hosts)), "") << hosts;
}

TEST(MetisGraph, EdgesWithAndWithoutWeights) {
  const File plain("% a path\n3 2\n2\n1 3\n% here, too\n2\n");
  const auto path = read_metis_graph(plain.path());
  ASSERT_EQ(path.messages.size(), 4U);
  EXPECT_EQ(path.ranks, 3);
  EXPECT_EQ(path.messages[2].from, 1);
  EXPECT_EQ(path.messages[2].to, 2);
  EXPECT_EQ(path.messages[2].bytes, 1);
}

TEST(MetisGraph, WeightsOfVerticesAreSkipped) {
  const File file("2 1 111 2\n9 7 7 2 40\n9 7 7 1 41\n");
  const auto traffic = read_metis_graph(file.path());
  ASSERT_EQ(traffic.messages.size(), 2U);
  EXPECT_EQ(traffic.messages[0].bytes, 40);
  EXPECT_EQ(traffic.messages[1].bytes, 41);
}

TEST(MetisGraph, NonsenseIsRefusedByLine) {
  const auto refused = [](const std::string& content) { return error_of(read_metis_graph, content); };
  EXPECT_NE(refused("").find("line 1"), std::string::npos);
  EXPECT_NE(refused("2 1\n2\n").find("ends at vertex 2"), std::string::npos);
  EXPECT_NE(refused("2 1\n3\n1\n").find("line 2: there is no vertex 3"), std::string::npos);
  EXPECT_NE(refused("2 1 1\n2\n1 1\n").find("line 2: a number is missing"), std::string::npos);
  EXPECT_NE(refused("2 2\n2\n1\n").find("2 edges were promised"), std::string::npos);
  EXPECT_NE(refused("2 1\ntwo\n1\n").find("line 2"), std::string::npos);
  EXPECT_NE(refused("2 1 7\n2\n1\n").find("format"), std::string::npos);
}

}  // namespace
}  // namespace ayatori::mapping
