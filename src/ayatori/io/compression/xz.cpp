#ifdef AYATORI_HAS_LZMA

#include <lzma.h>

#include <new>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

class XzDecoder final : public Decoder {
 public:
  XzDecoder() { begin(); }
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  Step step(std::span<const char>& in, std::span<char>& out) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status != LZMA_OK && status != LZMA_STREAM_END && status != LZMA_BUF_ERROR)
      throw InputError(what_is_wrong(status));
    return status == LZMA_STREAM_END ? Step::end : Step::within;
  }
  void restart() override { begin(); }

 private:
  static const char* what_is_wrong(lzma_ret status) {
    if (status == LZMA_FORMAT_ERROR) return "a header is wrong";
    if (status == LZMA_MEMLIMIT_ERROR) return "the header asks for more than 1 GiB of memory";
    if (status == LZMA_OPTIONS_ERROR) return "a filter is not known";
    return "a checksum is wrong";
  }
  void begin() {
    constexpr std::uint64_t most_memory = std::uint64_t{1} << 30;  // xz -9 asks for 65 MiB
    if (lzma_stream_decoder(&stream_, most_memory, 0) != LZMA_OK) throw std::bad_alloc();
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Decoder> make_xz_decoder() {
  return std::make_unique<XzDecoder>();
}

std::string compress_xz(std::string_view text) {
  std::string result(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t bytes = 0;
  const lzma_ret status = lzma_easy_buffer_encode(
      LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
      text.size(), reinterpret_cast<std::uint8_t*>(result.data()), &bytes, result.size());
  if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
  if (status != LZMA_OK) throw InternalError("xz did not finish within its own bound");
  result.resize(bytes);
  return result;
}

}  // namespace ayatori::io

#endif
