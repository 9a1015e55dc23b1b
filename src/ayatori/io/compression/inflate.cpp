#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

class Inflater final : public Decoder {
 public:
  explicit Inflater(int window_bits) {
    if (inflateInit2(&zlib_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() override { inflateEnd(&zlib_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Step step(std::span<const char>& in, std::span<char>& out) override {
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib does not write to it
    zlib_.avail_in = limited(in.size());
    zlib_.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib_.avail_out = limited(out.size());
    const int status = inflate(&zlib_, Z_NO_FLUSH);
    in = in.subspan(limited(in.size()) - zlib_.avail_in);
    out = out.subspan(limited(out.size()) - zlib_.avail_out);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      throw InputError(zlib_.msg != nullptr ? zlib_.msg : "unknown error");
    return status == Z_STREAM_END ? Step::end : Step::within;
  }
  void restart() override { inflateReset(&zlib_); }

 private:
  static uInt limited(std::size_t bytes) {
    return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
  }

  z_stream zlib_{};
};

}  // namespace

std::unique_ptr<Decoder> make_inflater(int window_bits) {
  return std::make_unique<Inflater>(window_bits);
}

std::unique_ptr<Decoder> make_gzip_decoder() {
  constexpr int gzip_only = 16 + MAX_WBITS;  // zlib's way to ask for the gzip wrapper
  return make_inflater(gzip_only);
}

}  // namespace ayatori::io
