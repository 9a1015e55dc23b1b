#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::io::matrix_market {

/// Whole lines of the data, in memory of their own.
struct DealtText {
  std::int64_t offset = 0;  ///< offset of the first character, in the inflated content
  Array<char> characters;
};

/// Collective. Rank 0 deals what `next` gives, until that has no characters, to all ranks in turn, itself
/// included; every rank hands what it gets to `use`. `buffer` (on all ranks but 0) holds the longest text.
/// What `next` or `use` throws on one rank is thrown there, once all ranks have come to the end of the
/// dealing: the ranks have to agree on it.
void deal(const comm::Comm& comm, std::span<char> buffer, const std::function<DealtText()>& next,
          const std::function<void(DealtText)>& use);

}  // namespace ayatori::io::matrix_market
