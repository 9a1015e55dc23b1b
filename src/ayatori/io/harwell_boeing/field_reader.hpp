#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/io/harwell_boeing/header.hpp"

namespace ayatori::io::harwell_boeing {

/// How the number in a field is read. Both throw InputError, which names no place.
struct WholeNumbers {
  using Value = std::int64_t;
  Value in_column(std::string_view field) const { return parse_integer_field(field); }
  Value anywhere(std::string_view field) const { return parse_integer_field(field); }
};
struct Reals {
  using Value = double;
  NumberFormat format;
  Value in_column(std::string_view field) const { return parse_value_field(field, format); }
  Value anywhere(std::string_view field) const {
    if (needs_format(field, format))
      throw InputError(fmt::format("where {} has its point is not known", in_quotes(field)));
    return parse_value_field(field, format);
  }
};

/// The numbers of a part of the file, one after the other; the part begins with a new line. A line whose
/// fields are wider or narrower than the format says is read, too, if it holds as many numbers as it should
/// and blanks or signs tell them apart: scipy.io.hb_write writes such lines. Where both ways lead to numbers
/// these are the same, as then no number extends over two fields.
template <class Kind>
class FieldReader {
 public:
  using Value = typename Kind::Value;

  /// `count` numbers; `what` is what messages call one of them.
  FieldReader(const ByteSource& source, Lines& lines, const NumberFormat& format, std::int64_t count,
              std::string_view what, Kind kind)
      : source_(source), lines_(lines), format_(format), count_(count), what_(what), kind_(kind) {}

  /// The next number, of at most count.
  Value next() {
    if (next_ == in_line_) {
      take_line();
      parse_line();
    }
    ++done_;
    return values_[next_++];
  }

  /// Passes over numbers; lines with none but these are not looked at.
  void skip(std::int64_t numbers) {
    while (numbers > 0) {
      if (next_ == in_line_) {
        take_line();
        if (numbers < in_line_) parse_line();
      }
      const auto here = std::min<std::int64_t>(numbers, in_line_ - next_);
      next_ += static_cast<int>(here);
      done_ += here;
      numbers -= here;
    }
  }

 private:
  void take_line() {
    if (!lines_.next(line_)) {
      throw error_at(source_, lines_,
                     fmt::format("the file ends here, after {} of {} {}", done_, count_, what_));
    }
    line_.resize(line_.find_last_not_of(" \t\r") + 1);
    in_line_ = static_cast<int>(std::min<std::int64_t>(format_.per_line, count_ - done_));
    next_ = 0;
  }

  /// What helped with the line before is tried first.
  void parse_line() {
    if (is_free_ && parse_freely()) return;
    is_free_ = false;
    try {
      parse_columns();
    } catch (const InputError& error) {
      is_free_ = parse_freely();
      if (!is_free_) throw error_at(source_, lines_, error.what());
    }
  }

  void parse_columns() {
    const auto width = static_cast<std::size_t>(format_.width);
    if (line_.size() > static_cast<std::size_t>(in_line_) * width) {
      throw InputError(fmt::format("the line is longer than its {} {} of {} characters each", in_line_, what_,
                                   format_.width));
    }
    values_.clear();
    for (std::size_t k = 0; std::cmp_less(k, in_line_); ++k) {
      const std::size_t begin = k * width;
      const auto field =
          begin < line_.size() ? std::string_view(line_).substr(begin, width) : std::string_view();
      values_.push_back(kind_.in_column(field));
    }
  }

  /// False if the line does not hold as many numbers as it should.
  bool parse_freely() {
    if (line_.size() >= longest_line) return false;  // and may have been cut
    const auto numbers = split_numbers(line_);
    if (std::cmp_not_equal(numbers.size(), in_line_)) return false;
    values_.clear();
    try {
      for (const auto number : numbers) values_.push_back(kind_.anywhere(number));
    } catch (const InputError&) {
      return false;
    }
    return true;
  }

  const ByteSource& source_;
  Lines& lines_;
  const NumberFormat format_;
  const std::int64_t count_;
  const std::string_view what_;
  const Kind kind_;
  std::string line_;
  std::vector<Value> values_;  ///< values of the line, unless it was passed over
  int next_ = 0;               ///< place in values_
  int in_line_ = 0;
  std::int64_t done_ = 0;
  bool is_free_ = false;  ///< the line did not keep to its columns
};

}  // namespace ayatori::io::harwell_boeing
