#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ayatori/io/byte_source.hpp"

namespace ayatori::io {

/// The lines at the beginning of a source, one by one.
class HeaderLines {
 public:
  explicit HeaderLines(const ByteSource& source) : stream_(open_stream(source)) {}

  /// Reads the next line, without its end; of a long line (a comment can have any length) only the first
  /// characters. False at the end of the source.
  bool next(std::string& line);

  /// Number of the line read last, from 1.
  std::int64_t number() const { return number_; }
  /// Offset of the first character that next() has not taken.
  std::int64_t position() const { return position_; }

 private:
  bool refill();

  std::unique_ptr<ByteStream> stream_;
  std::string buffer_;
  std::size_t used_ = 0;
  std::int64_t number_ = 0;
  std::int64_t position_ = 0;
};

}  // namespace ayatori::io
