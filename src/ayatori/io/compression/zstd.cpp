#ifdef AYATORI_HAS_ZSTD

#include <zstd.h>

#include <new>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Step step(std::span<const char>& in, std::span<char>& out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &to, &from);
    in = in.subspan(from.pos);
    out = out.subspan(to.pos);
    if (ZSTD_isError(status) != 0) throw InputError(ZSTD_getErrorName(status));
    return status == 0 ? Step::end : Step::within;
  }
  void restart() override { ZSTD_initDStream(stream_); }

 private:
  ZSTD_DStream* stream_;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() {
  return std::make_unique<ZstdDecoder>();
}

std::string compress_zstd(std::string_view text) {
  constexpr int usual_level = 3;
  std::string result(ZSTD_compressBound(text.size()), '\0');
  const std::size_t bytes =
      ZSTD_compress(result.data(), result.size(), text.data(), text.size(), usual_level);
  if (ZSTD_isError(bytes) != 0) throw EnvironmentError(fmt::format("zstd: {}", ZSTD_getErrorName(bytes)));
  result.resize(bytes);
  return result;
}

}  // namespace ayatori::io

#endif
