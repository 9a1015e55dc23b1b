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

}  // namespace ayatori::io

#endif
