#include "ayatori/machine/profile.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/machine/published_profiles.hpp"
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
  EXPECT_EQ(after.collectives.back().operation, "alltoall");
  EXPECT_EQ(after.levels.at(1).overlap.at(0).together.median, 1.2e-3);
  EXPECT_EQ(after.pairs.at(1).seconds, 22e-6);
  EXPECT_EQ(after.levels.at(1).fan.bytes_per_second(250e-6), before.levels[1].fan.bytes_per_second(250e-6));
  EXPECT_EQ(after.ports.at(1).name, "eth1");
  EXPECT_TRUE(after.memory.at(2).touched_by_one);
  ASSERT_TRUE(after.device);
  EXPECT_EQ(after.device->name, "Some GPU");
  EXPECT_EQ(after.device->open_seconds, 0.25);
  EXPECT_EQ(after.device->copy, 3e12);
  EXPECT_EQ(after.device->in, 50e9);
  EXPECT_EQ(after.device->out, 45e9);
  EXPECT_EQ(after.device->step, 2e-6);
  EXPECT_EQ(after.device->wait, 9e-6);
}

TEST(Profile, OfAMachineWithoutADeviceSaysNothingOfOne) {
  Profile profile = sample_profile();
  profile.device.reset();
  const std::string text = to_json(profile);
  EXPECT_EQ(text.find("\"device\""), std::string::npos);
  EXPECT_FALSE(profile_from_json(text, "text").device);
}

TEST(Profile, AnswersQuestions) {
  const Profile profile = sample_profile();
  EXPECT_EQ(profile.nodes(), 2);
  EXPECT_EQ(profile.memory_bandwidth("triad", 100), 60e9);
  EXPECT_EQ(profile.memory_bandwidth("triad", 3), 20e9);
  EXPECT_EQ(profile.memory_bandwidth("copy", 3), 0);
  EXPECT_NEAR(profile.levels[1].overlap[0].hidden(), 0.8, 1e-12);
  EXPECT_NEAR(profile.levels[1].overlap[0].effective_bandwidth(), 1 / 1.2, 1e-12);
}

TEST(Profile, WhatFlowsOnALinkGet) {
  Profile profile = sample_profile();
  const auto shared = link_sharing(profile.levels[1]);
  EXPECT_TRUE(shared.is_limited);
  EXPECT_NEAR(shared.bandwidth(1), 1e9, 1);
  EXPECT_NEAR(shared.bandwidth(2), 0.5e9, 1);
  EXPECT_NEAR(shared.bandwidth(4), 0.25e9, 1);
  profile.levels[1].curves[1].model.pieces[0].beta = 1.05e-9;
  const auto wide = link_sharing(profile.levels[1]);
  EXPECT_FALSE(wide.is_limited);
  EXPECT_NEAR(wide.bandwidth(2), 1e9, 1);
  EXPECT_EQ(link_sharing(Level()).capacity, 0);
}

/// The papers' machines, with figures that can be looked up there.
TEST(Profile, PublishedMachinesAreThereByName) {
  for (const auto& published : published_profiles()) {
    const Profile profile = load_profile(std::string(published.name));
    EXPECT_EQ(profile.node.hostname, std::string(published.name).substr(0, profile.node.hostname.size()));
    EXPECT_EQ(to_json(profile_from_json(to_json(profile), "text")), to_json(profile));
    EXPECT_NE(profile.source, "measured");
    EXPECT_FALSE(profile.levels.empty());
    EXPECT_EQ(profile.levels.back().structure.groups, 1);
  }
  const Profile altix = load_profile("altix3700bx2");
  ASSERT_EQ(altix.levels.size(), 3U);
  EXPECT_EQ(altix.levels[0].structure.groups, 128);
  EXPECT_EQ(altix.levels[1].structure.groups, 32);
  // a megaword through the whole machine, many pairs at once: 3.92 us + 22.13e-3 us a word
  EXPECT_NEAR(altix.levels[2].curve("one-way", 128)->model.seconds(8e6), 3.92e-6 + 22.13e-3, 1e-9);
  EXPECT_NEAR(load_profile("infiniband-2005").levels[0].curve("both-ways", 1)->model.bandwidth(), 1453.5e6,
              1);
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

/// Whatever is missing: an error, not a crash. Profiles of version 0.1.0 had no pairs, nor did they say what
/// the job could use; most machines have no device.
TEST(Profile, EveryFieldIsAskedFor) {
  const auto whole = nlohmann::json::parse(to_json(sample_profile()));
  for (const auto& [key, value] : whole.items()) {
    auto json = whole;
    json.erase(key);
    if (key == "pairs")
      EXPECT_TRUE(profile_from_json(json.dump(), "old.json").pairs.empty());
    else if (key == "usable_units")
      EXPECT_EQ(profile_from_json(json.dump(), "old.json").processing_units(),
                whole["node"]["processing_units"]);
    else if (key == "device")
      EXPECT_FALSE(profile_from_json(json.dump(), "old.json").device);
    else
      expect_rejected(json.dump(), "");
    json[key] = nlohmann::json::object({{"of", "another kind"}});
    expect_rejected(json.dump(), "");
  }
}

TEST(Profile, NumbersThatNoFieldHoldsAreErrors) {
  auto json = nlohmann::json::parse(to_json(sample_profile()));
  for (const nlohmann::json& number :
       {nlohmann::json(1e300), nlohmann::json(1.5), nlohmann::json(1LL << 40)}) {
    json["threads"] = number;
    expect_rejected(json.dump(), "threads");
  }
  json["threads"] = 1;
  json["node"]["hostname"] = "\x1b[2Jnode";
  EXPECT_EQ(profile_from_json(json.dump(), "text").node.hostname, "?[2Jnode") << "it will be printed";
}

/// Who forecasts divides by rates.
TEST(Profile, DevicesThatCannotBeAreErrors) {
  const auto whole = nlohmann::json::parse(to_json(sample_profile()));
  for (const auto& [key, value] : whole["device"].items()) {
    auto json = whole;
    json["device"].erase(key);
    expect_rejected(json.dump(), "device");
    for (const nlohmann::json& bad : {nlohmann::json(-1), nlohmann::json(nullptr), nlohmann::json::array()}) {
      json["device"][key] = bad;
      expect_rejected(json.dump(), "device");
    }
  }
  auto json = whole;
  json["device"]["copy_bytes_per_second"] = 0;
  expect_rejected(json.dump(), "device");
  json["device"] = nullptr;
  expect_rejected(json.dump(), "device");
}

/// A file that is somebody's is never replaced by a profile.
TEST(Profile, OnlyProfilesAreReplaced) {
  std::string folder = (std::filesystem::temp_directory_path() / "ayatori-test.XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/file";
  const auto answer = [&](const std::string& content) {
    write_file(path, content, Outlives::process);
    return why_not_replaced(path);
  };
  EXPECT_EQ(why_not_replaced(path), "") << "there is none";
  const std::string text = to_json(sample_profile());
  EXPECT_EQ(answer(text), "");
  EXPECT_EQ(answer(text.substr(0, text.size() / 2)), "") << "a torn one";
  EXPECT_EQ(answer(""), "") << "as mktemp leaves it";
  EXPECT_EQ(answer(R"({"schema": "ayatori.machine-profile/7"})"), "") << "of another version";
  EXPECT_EQ(answer(R"({"ranks": 1, "schema": "ayatori.machine-profile/1"})"), "") << "written by others";
  for (const char* content : {"my thesis\n", "\n", "{", "{}", "[1]", R"({"schema": "ayatori.solve/1"})",
                              R"({"schema": 7})", R"({"text": "ayatori.machine-profile/1"})"})
    EXPECT_EQ(answer(content), "is no machine profile") << content;
  EXPECT_NE(answer(std::string(300000, '[')), "");
  EXPECT_EQ(why_not_replaced(folder), "is a directory, not a file");
  EXPECT_EQ(why_not_replaced("/dev/null"), "is not a regular file");
  std::filesystem::create_symlink("nowhere", folder + "/dangling");
  EXPECT_NE(why_not_replaced(folder + "/dangling"), "");
  std::filesystem::remove_all(folder);
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

TEST(Profile, ThroughMemoryOnlyInsideNodes) {
  Profile profile = sample_profile();
  EXPECT_EQ(to_json(through_memory(profile)), to_json(profile)) << "no such curves";
  Level& inside = profile.levels.front();
  inside.curves.push_back({std::string(one_way_through_memory), 1, {}, {{{0, 0.1e-6, 1e-11}}, 0.02}});
  inside.curves.push_back({std::string(both_ways_through_memory), 1, {}, {{{0, 0.2e-6, 2e-11}}, 0.02}});
  const Profile quicker = through_memory(profile);
  ASSERT_EQ(quicker.levels.front().curves.size(), 2U);
  EXPECT_EQ(quicker.levels.front().curve("one-way", 1)->model.latency(), 0.1e-6);
  EXPECT_EQ(quicker.levels.front().curve("both-ways", 1)->model.latency(), 0.2e-6);
  const double nearer = 0.4e-6 + 8 * (1e-10 - 1e-11);
  EXPECT_NEAR(quicker.pairs.front().seconds, profile.pairs.front().seconds - nearer, 1e-12);
  EXPECT_NEAR(quicker.levels.front().structure.typical_seconds, inside.structure.typical_seconds - nearer,
              1e-12);
  EXPECT_EQ(quicker.pairs.back().seconds, profile.pairs.back().seconds);
  EXPECT_EQ(quicker.levels.back().curves.size(), profile.levels.back().curves.size());
}

}  // namespace
}  // namespace ayatori::machine
