#pragma once

#include <algorithm>
#include <string>

#include "ayatori/io/harwell_boeing/header.hpp"

namespace ayatori::io::harwell_boeing {

/// The fields of a part of the file, one after the other; the part begins with a new line.
class FieldReader {
 public:
  /// `count` fields; `what` is what messages call one of them.
  FieldReader(const ByteSource& source, Lines& lines, const NumberFormat& format, std::int64_t count,
              std::string_view what)
      : source_(source), lines_(lines), format_(format), count_(count), what_(what) {}

  /// The next field, of at most count fields.
  std::string_view next() {
    if (field_ == in_line_) next_line();
    const auto width = static_cast<std::size_t>(format_.width);
    const std::size_t begin = static_cast<std::size_t>(field_++) * width;
    ++done_;
    return begin < line_.size() ? std::string_view(line_).substr(begin, width) : std::string_view();
  }

  /// Passes over fields without looking at them.
  void skip(std::int64_t fields) {
    while (fields > 0) {
      if (field_ == in_line_) next_line();
      const auto here = std::min<std::int64_t>(fields, in_line_ - field_);
      field_ += static_cast<int>(here);
      done_ += here;
      fields -= here;
    }
  }

 private:
  void next_line() {
    if (!lines_.next(line_)) {
      throw error_at(source_, lines_,
                     fmt::format("the file ends here, after {} of {} {}", done_, count_, what_));
    }
    line_.resize(line_.find_last_not_of(" \t\r") + 1);
    in_line_ = static_cast<int>(std::min<std::int64_t>(format_.per_line, count_ - done_));
    field_ = 0;
    if (line_.size() > static_cast<std::size_t>(in_line_) * static_cast<std::size_t>(format_.width)) {
      throw error_at(source_, lines_,
                     fmt::format("the line is longer than its {} {} of {} characters each", in_line_, what_,
                                 format_.width));
    }
  }

  const ByteSource& source_;
  Lines& lines_;
  const NumberFormat format_;
  const std::int64_t count_;
  const std::string_view what_;
  std::string line_;
  int field_ = 0;
  int in_line_ = 0;
  std::int64_t done_ = 0;
};

}  // namespace ayatori::io::harwell_boeing
