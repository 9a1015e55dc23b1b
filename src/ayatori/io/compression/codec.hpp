#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ayatori/io/byte_source.hpp"

namespace ayatori::io {

/// Undoes a compression, bit by bit.
class Decoder {
 public:
  enum class Step { within, end };  ///< end: of a member, behind which another may begin

  virtual ~Decoder() = default;

  /// Takes bytes off the front of `in`, and fills those at the front of `out`, which it takes off as well.
  /// Throws InputError that says what is wrong with the data, and names no file.
  virtual Step step(std::span<const char>& in, std::span<char>& out) = 0;
  /// Another member begins.
  virtual void restart() = 0;
};

/// A compression of files. `gzip -c A.mtx` has the magic bytes of the list.
struct Codec {
  std::string_view name;     ///< name of the program, "gzip"
  std::string_view suffix;   ///< suffix of files, ".gz"
  std::string_view magic;    ///< how they begin
  std::string_view package;  ///< Debian's name of what it takes to build with it
  /// Most bytes of content for each of the file; 0: there is no such bound.
  std::int64_t most_growth;
  std::unique_ptr<Decoder> (*make_decoder)();  ///< null: not built in
  /// The text as one member: members written one after the other are a file of the whole. Null: not built in.
  std::string (*compress)(std::string_view text);
};

/// The list. Another compression is a file that gives decoder and encoder, and a line there.
std::span<const Codec> codecs();

/// That of a source, told by its first bytes; null if it is not compressed in a known way.
const Codec* codec_of(const ByteSource& source);

/// That by which a file to write ends, "x.mtx.gz"; null if there is none.
const Codec* codec_of_name(std::string_view path);

/// Inflates deflated data: `window_bits` is what inflateInit2() calls so.
std::unique_ptr<Decoder> make_inflater(int window_bits);

std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_bzip2_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();

std::string compress_gzip(std::string_view text);
std::string compress_bzip2(std::string_view text);
std::string compress_xz(std::string_view text);
std::string compress_zstd(std::string_view text);

/// The content of `bytes` bytes of a source from `begin` on, one member behind the other. `name` is what
/// messages call the compression. The source outlives the stream.
std::unique_ptr<ByteStream> decode(const ByteSource& source, std::int64_t begin, std::int64_t bytes,
                                   std::string_view name, std::unique_ptr<Decoder> decoder);

}  // namespace ayatori::io
