#include <array>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

#ifdef AYATORI_HAS_BZIP2
constexpr auto bzip2 = make_bzip2_decoder;
#else
constexpr std::unique_ptr<Decoder> (*bzip2)() = nullptr;
#endif
#ifdef AYATORI_HAS_LZMA
constexpr auto xz = make_xz_decoder;
#else
constexpr std::unique_ptr<Decoder> (*xz)() = nullptr;
#endif
#ifdef AYATORI_HAS_ZSTD
constexpr auto zstd = make_zstd_decoder;
#else
constexpr std::unique_ptr<Decoder> (*zstd)() = nullptr;
#endif

using namespace std::string_view_literals;

constexpr std::array list{
    Codec{"gzip", ".gz", "\x1f\x8b"sv, "zlib1g-dev", 1032, make_gzip_decoder},
    Codec{"bzip2", ".bz2", "BZh"sv, "libbz2-dev", 0, bzip2},
    Codec{"xz", ".xz",
          "\xfd"
          "7zXZ\0"sv,
          "liblzma-dev", 0, xz},
    Codec{"zstd", ".zst", "\x28\xb5\x2f\xfd"sv, "libzstd-dev", 0, zstd},
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

}  // namespace ayatori::io
