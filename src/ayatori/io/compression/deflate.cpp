#include <zlib.h>

#include <new>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

std::string compress_gzip(std::string_view text) {
  z_stream zlib{};
  constexpr int gzip_wrapper = 16 + MAX_WBITS;
  constexpr int default_memory = 8;
  if (deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_wrapper, default_memory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string result(deflateBound(&zlib, text.size()), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write to it
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(result.data());
  zlib.avail_out = static_cast<uInt>(result.size());
  const int status = deflate(&zlib, Z_FINISH);
  result.resize(zlib.total_out);
  deflateEnd(&zlib);
  if (status != Z_STREAM_END) throw InternalError("deflate did not finish within its own bound");
  return result;
}

}  // namespace ayatori::io
