#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ayatori/io/binary/numbers.hpp"
#include "ayatori/io/binary/variable.hpp"

namespace ayatori::io::matlab {

/// Where a reader is in a variable: its elements, one after the other. Errors begin with the file's name.
class Cursor {
 public:
  /// `bytes` are those of the variable.
  Cursor(ByteStream& stream, std::int64_t bytes, bool is_swapped, std::string name)
      : stream_(stream), left_(bytes), is_swapped_(is_swapped), name_(std::move(name)) {}

  /// Begins the next element. Throws InputError.
  struct Element {
    int type = 0;  ///< as the format numbers them: 1 to 7, 9, 12 and 13 are numbers, 14 a variable
    std::int64_t bytes = 0;
    std::int64_t padding = 0;  ///< that follows them
  };
  Element next();

  /// The tag of a whole variable, which is never short.
  Element raw_tag();
  /// What is inside an element, to be read to its end; then leave_part() it.
  Cursor part(const Element& element) const { return {stream_, element.bytes, is_swapped_, name_}; }
  void leave_part(const Element& element) { left_ -= element.bytes; }
  /// Passes over what is left.
  void finish();
  /// The bytes of a short element.
  std::string text(const Element& element);
  /// The whole numbers of a short element.
  std::vector<std::int64_t> integers(const Element& element);
  /// How the numbers of an element stand. Throws InputError if it has none.
  NumberType number_type(const Element& element) const;
  /// The numbers of an element, to be read or skipped in order; then leave() it.
  NumberStream numbers(const Element& element, const std::string& what);
  void leave(const Element& element, std::int64_t numbers_taken);

  const std::string& name() const { return name_; }
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::string take(std::int64_t bytes);
  void pass(std::int64_t bytes);

  ByteStream& stream_;
  std::int64_t left_;
  bool is_swapped_;
  std::string name_;
};

/// Calls visit(variable, cursor) for every variable of numbers, in order, with the cursor behind its name,
/// until it gives true: what it has not read is passed over. In a complex one, imaginary parts follow behind
/// all real ones. Throws InputError.
using Visit = std::function<bool(const Variable& variable, Cursor& cursor)>;
void visit_variables(const ByteSource& source, const Visit& visit);

}  // namespace ayatori::io::matlab
