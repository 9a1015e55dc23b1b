#include "ayatori/base/json.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ayatori {
namespace {

std::string nested(int levels, const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += open;
  for (int i = 0; i < levels; ++i) text += close;
  return text;
}

std::string error_of(const std::string& text) {
  try {
    parse_json(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Json, IsReadAsItStands) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2.5, "x", null, true]})").dump(), R"({"a":[1,2.5,"x",null,true]})");
  EXPECT_EQ(parse_ordered_json(R"({"b": 1, "a": 2})").dump(), R"({"b":1,"a":2})");
}

TEST(Json, IsNoDeeperThanItsLimit) {
  EXPECT_EQ(error_of(nested(deepest_json, "[", "]")), "");
  EXPECT_NE(error_of(nested(deepest_json + 1, "[", "]")).find("more than 64 levels"), std::string::npos);
  for (const int levels : {deepest_json + 1, 300000}) {  // the latter would overflow the stack
    EXPECT_NE(error_of(nested(levels, "[", "]")), "");
    EXPECT_NE(error_of(nested(levels, "{\"a\":", "}")), "");
    EXPECT_NE(error_of(nested(levels, "[{\"a\":", "}]")), "");
    EXPECT_NE(error_of(std::string(levels, '[')), "");
    EXPECT_THROW(parse_ordered_json("{\"schema\": " + nested(levels, "[", "]") + "}"), InputError);
  }
}

TEST(Json, BracketsInStringsAreNoLevels) {
  EXPECT_EQ(error_of('"' + std::string(1000, '[') + '"'), "");
  EXPECT_EQ(error_of(R"({"\"": ")" + std::string(1000, '{') + R"(\\"})"), "");
  EXPECT_NE(error_of(R"(["\\", )" + nested(deepest_json, "[", "]") + "]"), "")
      << "the string ends before them";
}

TEST(Json, MistakesAreErrorsOfOneShortPrintableLine) {
  for (const std::string text :
       {"", "{", "nonsense", "[1, 2", "1e999", "\"\xff\"", "[1] 2", "\"\x1b[31m\""}) {
    SCOPED_TRACE(text);
    const std::string error = error_of(text);
    EXPECT_TRUE(error.starts_with("no JSON: ")) << error;
    EXPECT_EQ(error, printable(error));
  }
  EXPECT_LT(error_of('"' + std::string(100000, 'a')).size(), 400U);
}

TEST(Json, ErrorsAreGivenTheirName) {
  const auto text_of = [](auto&& f) -> std::string {
    try {
      naming("a.json", f);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(text_of([] { throw InputError("is torn"); }), "a.json: is torn");
  EXPECT_EQ(text_of([] { return parse_json("{}").at("key"); }), "a.json: key 'key' not found");
  EXPECT_EQ(naming("a.json", [] { return 7; }), 7);
}

TEST(Json, WholeNumbersAreChecked) {
  const auto read = [](const char* text) { return whole_number<int>(parse_json(text)); };
  EXPECT_EQ(read("-3"), -3);
  EXPECT_EQ(read("2147483647"), INT_MAX);
  EXPECT_EQ(whole_number<int>(nlohmann::json(5), 0, 5), 5);
  for (const char* text : {"2147483648", "-2147483649", "1.5", "1e300", "18446744073709551615", "true",
                           "null", "\"1\"", "[1]", "{}"})
    EXPECT_THROW(read(text), InputError) << text;
  EXPECT_THROW(whole_number<int>(parse_json("-1"), 0), InputError);
  EXPECT_THROW(whole_number<int>(parse_json("6"), 0, 5), InputError);
  EXPECT_EQ(whole_number<std::int64_t>(parse_json("9223372036854775807")), INT64_MAX);
  EXPECT_THROW(whole_number<std::int64_t>(parse_json("9223372036854775808")), InputError);
}

TEST(Json, NumbersAreChecked) {
  EXPECT_EQ(number_between(parse_json("0.5"), 0, 1), 0.5);
  EXPECT_EQ(number_between(parse_json("1"), 0, 1), 1);
  for (const char* text : {"-1", "1.001", "null", "\"0.5\"", "[]"})
    EXPECT_THROW(number_between(parse_json(text), 0, 1), InputError) << text;
  EXPECT_THROW(number_between(nlohmann::json(std::numeric_limits<double>::quiet_NaN()), 0, 1), InputError);
}

TEST(Json, FilesAreReadToALimit) {
  std::string folder = (std::filesystem::temp_directory_path() / "ayatori-test.XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/a.json";
  std::ofstream(path) << "[1, 2, 3]";
  EXPECT_EQ(read_json(path).size(), 3U);
  EXPECT_EQ(read_ordered_json(path, 9).size(), 3U);
  EXPECT_THROW(read_json(path, 8), InputError);
  EXPECT_THROW(read_json(folder), InputError);
  EXPECT_THROW(read_json(path + ".gone"), InputError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ayatori
