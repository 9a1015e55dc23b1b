#pragma once

#include <string>
#include <vector>

#include "ayatori/io/compression/codec.hpp"
#include "ayatori/io/matrix_market.hpp"

namespace ayatori::io {

/// The same content as plain text, as one gzip member, and as a member for every few characters.
inline std::vector<std::string> packings(const std::string& text) {
  std::string members;
  constexpr std::size_t characters_per_member = 5;
  for (std::size_t i = 0; i < text.size(); i += characters_per_member) {
    members += compress_gzip(text.substr(i, characters_per_member));
  }
  return {text, compress_gzip(text), members};
}

/// Piece sizes that put cuts at every place of a small file, and the default.
inline const std::vector<MatrixMarketReadOptions>& cuttings() {
  static const std::vector<MatrixMarketReadOptions> list{{1}, {2}, {7}, {30}, {}};
  return list;
}

/// Calls check(source, options) for a content in every packing and cutting.
template <class Check>
void in_all_ways(const std::string& text, Check&& check) {
  for (const std::string& bytes : packings(text)) {
    for (const auto& options : cuttings()) check(MemoryBytes(bytes, "A.mtx"), options);
  }
}

}  // namespace ayatori::io
