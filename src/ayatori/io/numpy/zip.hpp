#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ayatori/io/byte_source.hpp"

namespace ayatori::io::zip {

/// A file in a zip archive (PKWARE, APPNOTE.TXT), also of more than 4 GiB.
struct Member {
  std::string name;
  int method = 0;  ///< 0: stored, 8: deflated
  std::uint32_t checksum = 0;
  std::int64_t packed_bytes = 0;
  std::int64_t bytes = 0;
  std::int64_t header_at = 0;
};

/// What is in the archive, by its directory. Throws InputError.
std::vector<Member> read_directory(const ByteSource& source);

/// The content of a member. Throws InputError where it is damaged: at its last byte, if nothing was passed
/// over. The source outlives the stream.
std::unique_ptr<ByteStream> open_member(const ByteSource& source, const Member& member);

}  // namespace ayatori::io::zip
