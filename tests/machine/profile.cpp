#include "ayatori/machine/profile.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "sample_profile.hpp"

namespace ayatori::machine {
namespace {

TEST(Profile, SurvivesBeingWrittenAndRead) {
  const Profile before = sample_profile();
  const std::string text = to_json(before);
  const Profile after = profile_from_json(text, "text");
  EXPECT_EQ(to_json(after), text);
  EXPECT_EQ(after.node.processor, before.node.processor);
  EXPECT_EQ(after.node_of_rank, before.node_of_rank);
  EXPECT_EQ(after.memory.at(1).bytes_per_second.median, 60e9);
  EXPECT_EQ(after.levels.at(0).structure.group_of, before.levels.at(0).structure.group_of);
  EXPECT_EQ(after.levels.at(0).curves.at(0).model.seconds(1 << 20),
            before.levels[0].curves[0].model.seconds(1 << 20));
  EXPECT_EQ(after.collectives.at(4).operation, "alltoall");
}

void expect_rejected(const std::string& text, const std::string& words) {
  try {
    profile_from_json(text, "cluster.json");
    ADD_FAILURE() << "accepted: " << text.substr(0, 80);
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("cluster.json"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Profile, BadTextIsNamed) {
  expect_rejected("", "not a machine profile");
  expect_rejected("[1, 2", "not a machine profile");
  expect_rejected("[]", "not a machine profile");
  expect_rejected(R"({"schema": "ayatori.solve/1"})", "schema");
  auto json = nlohmann::json::parse(to_json(sample_profile()));
  json["ranks"] = 3;
  expect_rejected(json.dump(), "node_of_rank");
  json["ranks"] = "four";
  expect_rejected(json.dump(), "not a machine profile");
}

/// Whatever is missing: an error, not a crash.
TEST(Profile, EveryFieldIsAskedFor) {
  const auto whole = nlohmann::json::parse(to_json(sample_profile()));
  for (const auto& [key, value] : whole.items()) {
    auto json = whole;
    json.erase(key);
    expect_rejected(json.dump(), "");
    json[key] = nlohmann::json::object({{"of", "another kind"}});
    expect_rejected(json.dump(), "");
  }
}

TEST(Profile, FilesThatCannotBeReadAreNamed) {
  EXPECT_THROW(load_profile("/no/such/profile.json"), InputError);
  EXPECT_THROW(load_profile("/"), InputError);
}

TEST(Profile, TheEnvironmentSaysWhereItIsKept) {
  setenv("AYATORI_PROFILE", "/some/where.json", 1);
  EXPECT_EQ(default_profile_path(), "/some/where.json");
  unsetenv("AYATORI_PROFILE");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(default_profile_path().find("/cache/ayatori/profile-"), 0U);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(default_profile_path().find("/home/someone/.cache/ayatori/profile-"), 0U);
}

}  // namespace
}  // namespace ayatori::machine
