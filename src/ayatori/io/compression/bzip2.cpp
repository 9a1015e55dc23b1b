#ifdef AYATORI_HAS_BZIP2

#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

class Bzip2Decoder final : public Decoder {
 public:
  Bzip2Decoder() { begin(); }
  ~Bzip2Decoder() override { BZ2_bzDecompressEnd(&stream_); }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;

  Step step(std::span<const char>& in, std::span<char>& out) override {
    stream_.next_in = const_cast<char*>(in.data());  // which bzip2 does not write to
    stream_.avail_in = limited(in.size());
    stream_.next_out = out.data();
    stream_.avail_out = limited(out.size());
    const int status = BZ2_bzDecompress(&stream_);
    in = in.subspan(limited(in.size()) - stream_.avail_in);
    out = out.subspan(limited(out.size()) - stream_.avail_out);
    if (status == BZ_MEM_ERROR) throw std::bad_alloc();
    if (status == BZ_DATA_ERROR) throw InputError("a checksum is wrong");
    if (status == BZ_DATA_ERROR_MAGIC) throw InputError("a header is wrong");
    if (status != BZ_OK && status != BZ_STREAM_END) throw InputError("unknown error");
    return status == BZ_STREAM_END ? Step::end : Step::within;
  }
  void restart() override {
    BZ2_bzDecompressEnd(&stream_);
    begin();
  }

 private:
  static unsigned limited(std::size_t bytes) {
    return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
  }
  void begin() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream stream_{};
};

}  // namespace

std::unique_ptr<Decoder> make_bzip2_decoder() {
  return std::make_unique<Bzip2Decoder>();
}

std::string compress_bzip2(std::string_view text) {
  constexpr int most_compression = 9;
  std::string result(text.size() + text.size() / 100 + 601, '\0');  // the bound of its manual
  auto bytes = static_cast<unsigned>(result.size());
  char* const from = const_cast<char*>(text.data());  // which bzip2 does not write to
  const int status = BZ2_bzBuffToBuffCompress(result.data(), &bytes, from, static_cast<unsigned>(text.size()),
                                              most_compression, 0, 0);
  if (status == BZ_MEM_ERROR) throw std::bad_alloc();
  if (status != BZ_OK) throw InternalError("bzip2 did not finish within its own bound");
  result.resize(bytes);
  return result;
}

}  // namespace ayatori::io

#endif
