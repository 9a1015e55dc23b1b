#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ayatori/base/error.hpp"

namespace ayatori::io {

/// The text of the InputError, agreed by all ranks, that `call` has to throw.
template <class Call>
std::string input_error_of(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    EXPECT_TRUE(error.agreed());
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InputError: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no InputError";
  return {};
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in '" << text << "'";
}

}  // namespace ayatori::io
