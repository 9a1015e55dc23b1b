#include <algorithm>
#include <utility>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

class DecodedStream final : public ByteStream {
 public:
  DecodedStream(const ByteSource& source, std::int64_t begin, std::int64_t bytes, std::string_view name,
                std::unique_ptr<Decoder> decoder)
      : source_(source),
        name_(name),
        decoder_(std::move(decoder)),
        buffer_(input_bytes),
        position_(begin),
        end_(begin + bytes) {}

  std::size_t read(std::span<char> destination) override {
    std::span<char> rest = destination;
    while (!rest.empty() && !finished_) {
      if (input_.empty()) refill();
      if (between_members_ && !begin_member()) break;
      advance(rest);
    }
    return destination.size() - rest.size();
  }

 private:
  static constexpr std::size_t input_bytes = std::size_t{1} << 18;

  void refill() {
    const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(input_bytes, end_ - position_));
    input_ = std::span<const char>(buffer_).first(source_.read(position_, std::span(buffer_).first(wanted)));
    position_ += static_cast<std::int64_t>(input_.size());
  }

  /// At the end of a member: starts the next one; false if the data end here. Zeros may pad the end (tapes,
  /// tar).
  bool begin_member() {
    while (true) {
      while (!input_.empty() && input_.front() == 0) input_ = input_.subspan(1);
      if (!input_.empty()) break;
      refill();
      if (input_.empty()) {
        finished_ = true;
        return false;
      }
    }
    decoder_->restart();
    between_members_ = false;
    return true;
  }

  void advance(std::span<char>& rest) {
    const bool ended = input_.empty();
    const std::size_t room = rest.size();
    try {
      between_members_ = decoder_->step(input_, rest) == Decoder::Step::end;
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{}: the {}'ed data are damaged: {}", source_.name(), name_, error.what()));
    }
    // Without input a decoder may still give what it holds back.
    if (ended && rest.size() == room && !between_members_)
      throw InputError(
          fmt::format("{}: the {}'ed data end early: the file is truncated", source_.name(), name_));
  }

  const ByteSource& source_;
  std::string_view name_;
  std::unique_ptr<Decoder> decoder_;
  Array<char> buffer_;
  std::span<const char> input_;  ///< what the decoder has not taken of the buffer
  std::int64_t position_;
  std::int64_t end_;
  bool between_members_ = false;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> decode(const ByteSource& source, std::int64_t begin, std::int64_t bytes,
                                   std::string_view name, std::unique_ptr<Decoder> decoder) {
  return std::make_unique<DecodedStream>(source, begin, bytes, name, std::move(decoder));
}

}  // namespace ayatori::io
