#pragma once

#include <string>
#include <string_view>

namespace ayatori::io::matrix_market {

/// The text as one gzip member: members written one after the other are a gzip file of the whole.
std::string compress(std::string_view text);

}  // namespace ayatori::io::matrix_market
