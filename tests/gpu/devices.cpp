#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "ayatori/gpu/rates.hpp"
#include "on_device.hpp"

namespace ayatori::gpu {
namespace {

TEST(Devices, AreFoundByNameOrTheNamesAreListed) {
  EXPECT_EQ(device_type("host").name, "host");
  EXPECT_EQ(device_type("cuda").name, "cuda");
  try {
    device_type("tpu");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("cuda, host"), std::string::npos) << error.what();
  }
}

TEST(Devices, OneThatIsNotThereSaysSo) {
  const std::string why = device_type("cuda").why_not();
  if (why.empty()) {
    EXPECT_FALSE(device_type("cuda").open(0)->name().empty());
    return;
  }
  try {
    device_type("cuda").open(0);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()).find("no device"), 0U) << error.what();
  }
}

class Rated : public OnDevice {};

TEST_P(Rated, RatesArePositive) {
  const Rates rates = measure_rates(device());
  EXPECT_FALSE(rates.name.empty());
  for (const double rate : {rates.copy, rates.in, rates.out, rates.step, rates.wait}) EXPECT_GT(rate, 0);
}

TEST_P(Rated, LongCopiesArriveWhole) {
  std::vector<double> there_and_back(3 << 20);  // more than goes in one piece
  for (std::size_t i = 0; i < there_and_back.size(); ++i) there_and_back[i] = static_cast<double>(i);
  const DeviceArray<double> there(device(), std::span<const double>(there_and_back));
  std::vector<double> back(there_and_back.size());
  there.copy_out(back);
  EXPECT_EQ(back, there_and_back);
}

INSTANTIATE_TEST_SUITE_P(Device, Rated, testing::Values("host", "cuda"));

}  // namespace
}  // namespace ayatori::gpu
