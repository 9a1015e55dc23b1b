#include "ayatori/session/probe/measure_machine.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/gpu/device.hpp"
#include "ayatori/session/probe/probe.hpp"
#include "world.hpp"

namespace ayatori::session {
namespace {

std::string nothing() {
  return "";
}

TEST(MeasureDevice, EveryRankHasTheFigureOfTheFirst) {
  machine::Profile profile;
  measure_device(world(), gpu::device_type("host"), profile);
  ASSERT_TRUE(profile.device);
  EXPECT_TRUE(profile.device->is_possible());
  EXPECT_FALSE(profile.device->name.empty());
  EXPECT_TRUE(profile.left_out.empty());
  for (const double mine : {profile.device->copy, profile.device->in, profile.device->out,
                            profile.device->step, profile.device->wait, profile.device->open_seconds})
    EXPECT_EQ(mine, world().broadcast(mine, 0));
  EXPECT_NE(summary(profile).find("device     " + profile.device->name), std::string::npos);
}

TEST(MeasureDevice, WhereThereIsNoneNothingIsSaid) {
  const gpu::DeviceType none{
      .name = "none",
      .description = "for this test",
      .why_not = [] { return std::string("there is none"); },
      .open = [](int) -> std::unique_ptr<gpu::Device> { throw InternalError("opened where there is none"); }};
  machine::Profile profile;
  measure_device(world(), none, profile);
  EXPECT_FALSE(profile.device);
  EXPECT_TRUE(profile.left_out.empty());
  EXPECT_EQ(summary(profile).find("device"), std::string::npos);
}

TEST(MeasureDevice, OneThatFailsIsLeftOutOnEveryRank) {
  const gpu::DeviceType broken{
      .name = "broken",
      .description = "for this test",
      .why_not = nothing,
      .open = [](int) -> std::unique_ptr<gpu::Device> { throw EnvironmentError("it fell off the bus"); }};
  machine::Profile profile;
  measure_device(world(), broken, profile);
  EXPECT_FALSE(profile.device);
  ASSERT_EQ(profile.left_out.size(), 1U);
  EXPECT_EQ(profile.left_out[0], "device broken: it fell off the bus");
}

}  // namespace
}  // namespace ayatori::session
