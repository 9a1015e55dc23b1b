#include "ayatori/base/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "ayatori/base/find_named.hpp"

namespace ayatori {
namespace {

template <class E>
void expect_thrown_as(ErrorKind kind) {
  try {
    throw_error(kind, "text", true);
  } catch (const E& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_STREQ(error.what(), "text");
    EXPECT_TRUE(error.agreed());
    return;
  }
  FAIL();
}

TEST(Error, HasOneTypePerKind) {
  expect_thrown_as<InputError>(ErrorKind::bad_input);
  expect_thrown_as<EnvironmentError>(ErrorKind::environment);
  expect_thrown_as<InternalError>(ErrorKind::internal);
  EXPECT_EQ(InputError("").kind(), ErrorKind::bad_input);
  EXPECT_EQ(EnvironmentError("").kind(), ErrorKind::environment);
  EXPECT_EQ(InternalError("").kind(), ErrorKind::internal);
}

TEST(Error, IsNotAgreedUntilAllRanksHoldIt) {
  InputError error("text");
  EXPECT_FALSE(error.agreed());
  error.set_agreed();
  EXPECT_TRUE(error.agreed());
  EXPECT_THROW(
      {
        try {
          throw_error(ErrorKind::bad_input, "text");
        } catch (const InputError& thrown) {
          EXPECT_FALSE(thrown.agreed());
          throw;
        }
      },
      InputError);
}

TEST(Error, AssertionNamesThePlace) {
  try {
    assertion_failed("x > 0", "file.cpp", 12);
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "file.cpp:12: broken invariant: x > 0");
    return;
  }
  FAIL();
}

struct Named {
  std::string_view name;
  int value;
};
constexpr std::array<Named, 2> list{{{"one", 1}, {"two", 2}}};

TEST(FindNamed, FindsOrListsTheNames) {
  EXPECT_EQ(find_named(std::span<const Named>(list), "two", "number").value, 2);
  const auto refusal = [](std::string_view name) -> std::string {
    try {
      find_named(std::span<const Named>(list), name, "number");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("three"), "unknown number 'three': choose one of one, two");
  EXPECT_EQ(refusal("tow"), "unknown number 'tow': did you mean two? There are one, two");
}

TEST(FindNamed, GuessesByLettersThatDiffer) {
  const std::vector<std::string> names{"gmres", "fgmres", "cg"};
  EXPECT_EQ(did_you_mean("gmers", names), "did you mean gmres?");
  EXPECT_EQ(did_you_mean("fgmre", names), "did you mean fgmres?");
  EXPECT_EQ(did_you_mean("cgs", names), "did you mean cg?");
  EXPECT_EQ(did_you_mean("minres", names), "");
  EXPECT_EQ(did_you_mean("", {}), "");
}

}  // namespace
}  // namespace ayatori
