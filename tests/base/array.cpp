#include "ayatori/base/array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace ayatori {
namespace {

TEST(Array, StartsOnACacheLine) {
  for (const std::size_t n : {1, 3, 1000, 100000}) {
    const Array<double> array(n, 1.0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0U) << n;
  }
}

TEST(Array, LeavesTrivialElementsAsTheyAre) {
  Array<int> array(4, 7);
  array.resize(2);
  array.resize(4);  // within the capacity: the memory of the elements 2 and 3 has not been written since
  EXPECT_EQ(array, (Array<int>{7, 7, 7, 7}));
}

TEST(Array, InitialisesWhenTold) {
  EXPECT_EQ(Array<double>(3, 0.0), (Array<double>{0.0, 0.0, 0.0}));
  EXPECT_EQ(Array<std::string>(2), (Array<std::string>{"", ""}));
}

TEST(Array, MovesItsMemory) {
  Array<double> from(10, 2.0);
  const double* data = from.data();
  const Array<double> to = std::move(from);
  EXPECT_EQ(to.data(), data);
}

TEST(Array, RefusesSizesThatOverflow) {
  EXPECT_THROW(FirstTouchAllocator<double>().allocate(std::numeric_limits<std::size_t>::max() / 4),
               std::bad_alloc);
}

}  // namespace
}  // namespace ayatori
