#include "ayatori/io/checkpoint.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "ayatori/base/random.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/shared_file.hpp"
#include "ayatori/sparse/pattern/fingerprint.hpp"

namespace ayatori::io {

namespace {

static_assert(std::endian::native == std::endian::little, "the file is written as memory has it");

constexpr std::string_view magic = "AYATORI1";
/// Longer notes are no notes of ours.
constexpr std::int64_t longest_note = 1 << 20;

struct Header {
  std::array<char, magic.size()> word;
  std::int64_t note_bytes;
  std::uint64_t note_hash;
  std::int64_t rows;
  std::uint64_t x_hash;

  std::int64_t x_begins() const { return static_cast<std::int64_t>(sizeof(Header)) + note_bytes; }
  std::int64_t bytes() const { return x_begins() + 8 * rows; }
};

/// The note and the length of x.
std::uint64_t hash(std::string_view note, std::int64_t rows) {
  std::uint64_t value = random_bits(note.size(), static_cast<std::uint64_t>(rows));
  for (const char letter : note) value = random_bits(value, static_cast<unsigned char>(letter));
  return value;
}

template <class T>
std::string_view bytes_of(const T* data, std::size_t count) {
  return {reinterpret_cast<const char*>(data), count * sizeof(T)};
}

[[noreturn]] void damaged(const std::string& path, std::string_view how) {
  throw InputError(fmt::format("{}: {}", path, how));
}

/// What stands before x. Throws InputError unless all of it is as it was written.
std::pair<Header, std::string> read_beginning(const FileBytes& file, std::int64_t rows) {
  Header header{};
  const std::size_t got = file.read(0, {reinterpret_cast<char*>(&header), sizeof(Header)});
  if (got < magic.size() || std::string_view(header.word.data(), magic.size()) != magic)
    damaged(file.name(), "not a checkpoint");
  const bool makes_sense =
      got == sizeof(Header) && header.note_bytes >= 0 && header.note_bytes <= longest_note;
  if (!makes_sense) damaged(file.name(), "a damaged checkpoint");
  std::string note(static_cast<std::size_t>(header.note_bytes), '\0');
  const std::size_t length = file.read(sizeof(Header), note);
  if (length != note.size() || header.note_hash != hash(note, header.rows))
    damaged(file.name(), "a damaged checkpoint");
  if (header.rows != rows) {
    damaged(file.name(), fmt::format("a checkpoint of a vector of {} elements, but the matrix has {} rows",
                                     header.rows, rows));
  }
  if (header.bytes() != file.size())
    damaged(file.name(),
            fmt::format("a damaged checkpoint: {} bytes instead of {}", file.size(), header.bytes()));
  return {header, std::move(note)};
}

/// What writers of this checkpoint that were killed have left.
void clear_away_old_temporaries(const std::filesystem::path& path) {
  const std::string name = path.filename();
  remove_abandoned(path.has_parent_path() ? path.parent_path() : ".",
                   [&](std::string_view other) { return other == name; });
}

}  // namespace

void write_checkpoint(const comm::Comm& comm, const std::string& path, const std::string& note,
                      std::span<const double> x, const sparse::RowPartition& rows) {
  const std::string said = comm.broadcast(note, 0);
  const Range mine = rows.range(comm.rank());
  Header header{{},
                static_cast<std::int64_t>(said.size()),
                hash(said, rows.rows()),
                rows.rows(),
                sparse::fingerprint(comm, x, mine.begin)};
  std::memcpy(header.word.data(), magic.data(), magic.size());
  if (comm.rank() == 0) clear_away_old_temporaries(path);
  write_shared_file(comm, path, [&](const SharedFile& file) {
    if (comm.rank() == 0) {
      file.write(bytes_of(&header, 1), 0);
      file.write(said, sizeof(Header));
    }
    file.write(bytes_of(x.data(), x.size()), header.x_begins() + 8 * mine.begin);
  });
}

Checkpoint read_checkpoint(const comm::Comm& comm, const std::string& path,
                           const sparse::RowPartition& rows) {
  const Range mine = rows.range(comm.rank());
  Header header{};
  Checkpoint checkpoint;
  comm::agree(comm, [&] {
    const FileBytes file(path);
    std::tie(header, checkpoint.note) = read_beginning(file, rows.rows());
    checkpoint.x.resize(static_cast<std::size_t>(mine.size()));
    const std::span<char> bytes(reinterpret_cast<char*>(checkpoint.x.data()), checkpoint.x.size() * 8);
    if (file.read(header.x_begins() + 8 * mine.begin, bytes) != bytes.size())
      damaged(path, "it became shorter while it was read");
  });
  const bool as_written = sparse::fingerprint(comm, checkpoint.x, mine.begin) == header.x_hash;
  comm::agree(comm, [&] {
    if (!as_written) damaged(path, "a damaged checkpoint: its x is not the one that was written");
  });
  return checkpoint;
}

}  // namespace ayatori::io
