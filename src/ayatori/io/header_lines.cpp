#include "ayatori/io/header_lines.hpp"

#include <algorithm>

namespace ayatori::io {

bool HeaderLines::refill() {
  constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
  buffer_.resize(buffer_bytes);
  buffer_.resize(stream_->read(buffer_));
  used_ = 0;
  return !buffer_.empty();
}

bool HeaderLines::next(std::string& line) {
  constexpr std::size_t longest = 1024;  // the limit that the format sets
  line.clear();
  if (used_ == buffer_.size() && !refill()) return false;
  ++number_;
  while (true) {
    const std::size_t end = buffer_.find('\n', used_);
    const std::size_t stop = std::min(end, buffer_.size());
    line.append(buffer_, used_, std::min(stop - used_, longest - std::min(longest, line.size())));
    const bool complete = end != std::string::npos;
    position_ += static_cast<std::int64_t>(stop - used_) + (complete ? 1 : 0);
    used_ = stop + (complete ? 1 : 0);
    if (complete || !refill()) return true;
  }
}

}  // namespace ayatori::io
