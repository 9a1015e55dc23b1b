#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ayatori::io::matrix_market {

/// What stands between the blanks of a line.
std::vector<std::string> words_of(std::string_view line);

/// The text behind a byte-order mark of UTF-8, which editors may put at the beginning of a file.
std::string_view without_byte_order_mark(std::string_view text);

/// The text with A to Z in lower case.
std::string lower(std::string_view text);

}  // namespace ayatori::io::matrix_market
