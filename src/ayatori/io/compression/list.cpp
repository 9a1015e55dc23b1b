#include <algorithm>
#include <array>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

/// What there is of a library that may be missing.
struct Coder {
  std::unique_ptr<Decoder> (*make_decoder)() = nullptr;
  std::string (*compress)(std::string_view text) = nullptr;
};

#ifdef AYATORI_HAS_BZIP2
constexpr Coder bzip2{make_bzip2_decoder, compress_bzip2};
#else
constexpr Coder bzip2;
#endif
#ifdef AYATORI_HAS_LZMA
constexpr Coder xz{make_xz_decoder, compress_xz};
#else
constexpr Coder xz;
#endif
#ifdef AYATORI_HAS_ZSTD
constexpr Coder zstd{make_zstd_decoder, compress_zstd};
#else
constexpr Coder zstd;
#endif

using namespace std::string_view_literals;

constexpr std::array list{
    Codec{"gzip", ".gz", "\x1f\x8b"sv, "zlib1g-dev", 1032, make_gzip_decoder, compress_gzip},
    Codec{"bzip2", ".bz2", "BZh"sv, "libbz2-dev", 0, bzip2.make_decoder, bzip2.compress},
    Codec{"xz", ".xz",
          "\xfd"
          "7zXZ\0"sv,
          "liblzma-dev", 0, xz.make_decoder, xz.compress},
    Codec{"zstd", ".zst", "\x28\xb5\x2f\xfd"sv, "libzstd-dev", 0, zstd.make_decoder, zstd.compress},
};

}  // namespace

std::span<const Codec> codecs() {
  return list;
}

const Codec* codec_of(const ByteSource& source) {
  char beginning[8];
  const std::size_t count = source.read(0, beginning);
  for (const Codec& codec : list) {
    if (std::string_view(beginning, count).starts_with(codec.magic)) return &codec;
  }
  return nullptr;
}

const Codec* codec_of_name(std::string_view path) {
  const auto found =
      std::ranges::find_if(list, [&](const Codec& codec) { return path.ends_with(codec.suffix); });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace ayatori::io
