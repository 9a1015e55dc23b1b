#include "ayatori/tuning/product/budget.hpp"

#include <gtest/gtest.h>

namespace ayatori::tuning {
namespace {

TEST(Budget, AllowsAShare) {
  Budget budget(0.1);
  EXPECT_TRUE(budget.allows(1, 10));
  EXPECT_FALSE(budget.allows(1, 9));
  budget.spend(1);
  EXPECT_FALSE(budget.allows(1, 10));
  EXPECT_TRUE(budget.allows(1, 20));
  EXPECT_EQ(budget.spent(), 1);
}

}  // namespace
}  // namespace ayatori::tuning
