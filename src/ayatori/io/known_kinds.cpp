#include "ayatori/io/known_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>

#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/columns.hpp"

namespace ayatori::io {

namespace {

using namespace std::string_view_literals;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// MAT-files of version 4 have no name: type, rows, columns, whether complex, length of the variable's name.
bool is_mat_4(std::string_view bytes) {
  std::array<std::int32_t, 5> header{};
  if (bytes.size() <= sizeof header) return false;
  std::memcpy(header.data(), bytes.data(), sizeof header);
  const auto [type, rows, columns, is_complex, length] = header;
  constexpr std::int32_t last_type = 52;
  constexpr std::int32_t longest_name = 64;
  if (type < 0 || type > last_type || rows < 0 || columns < 0 || is_complex < 0 || is_complex > 1)
    return false;
  if (length < 2 || length > longest_name || bytes.size() < sizeof header + length) return false;
  const auto name = bytes.substr(sizeof header, static_cast<std::size_t>(length) - 1);
  return std::isalpha(static_cast<unsigned char>(name[0])) != 0 && bytes[sizeof header + length - 1] == 0 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// The older form of what xz writes: properties, the size of the dictionary, and that of the content.
bool is_lzma(std::string_view bytes) {
  constexpr std::size_t header = 13;
  if (bytes.size() < header || !bytes.starts_with("\x5d\0\0"sv)) return false;
  const auto size = bytes.substr(5, 8);
  return size == "\xff\xff\xff\xff\xff\xff\xff\xff"sv || size.ends_with("\0\0\0"sv);
}

/// A kind of file that is known by name only.
struct KnownKind {
  std::string_view name;
  bool (*recognises)(std::string_view first_bytes);
  std::string_view help;
};

constexpr std::string_view save_npz = "in Python: scipy.sparse.save_npz('A.npz', A)";

constexpr std::array kinds{
    KnownKind{"a MATLAB 7.3 file (HDF5)", [](std::string_view b) { return b.starts_with("MATLAB 7.3"); },
              "in MATLAB: save('A.mat', 'A', '-v7'); in Python, with h5py: "
              "ayatori.save('A.npz', ayatori.load('A.mat'))"},
    KnownKind{"a MATLAB 4 file", is_mat_4,
              "in Python: scipy.io.savemat('new.mat', scipy.io.loadmat('A.mat'))"},
    KnownKind{"an HDF5 file", [](std::string_view b) { return b.starts_with("\x89HDF\r\n\x1a\n"sv); },
              "in Python, with h5py: ayatori.save('A.npz', ayatori.load('A.h5'))"},
    KnownKind{"a zip archive", [](std::string_view b) { return b.starts_with("PK"); }, "unpack it: unzip"},
    KnownKind{"a tar archive",
              [](std::string_view b) { return b.size() > 262 && b.substr(257, 5) == "ustar"; },
              "unpack it: tar xf"},
    KnownKind{"a 7z archive", [](std::string_view b) { return b.starts_with("7z\xbc\xaf"sv); },
              "unpack it: 7z x"},
    KnownKind{"a RAR archive", [](std::string_view b) { return b.starts_with("Rar!"); },
              "unpack it: unrar x"},
    KnownKind{"data compressed by lzma (.lzma)", is_lzma, "decompress it: xz -dc A.mtx.lzma > A.mtx"},
    KnownKind{"columns with commas between them (CSV)",
              [](std::string_view b) {
                const auto numbers = numbers_between_commas(b);
                return numbers == 2 || numbers == 3;
              },
              "put blanks for the commas: tr , ' ' < A.csv > A.txt"},
    KnownKind{"a table with commas between its numbers (CSV)",
              [](std::string_view b) { return numbers_between_commas(b) > 3; },
              "in Python: numpy.save('A.npy', numpy.loadtxt('A.csv', delimiter=','))"},
    KnownKind{"a Python pickle",
              [](std::string_view b) { return b.size() > 1 && b[0] == '\x80' && b[1] >= 2 && b[1] <= 5; },
              save_npz},
    KnownKind{"a PDF document", [](std::string_view b) { return b.starts_with("%PDF-"); },
              "the matrix is in another file"},
    KnownKind{"a web page",
              [](std::string_view b) {
                const auto text = lower(without_blanks(b));
                return text.starts_with("<!doctype html") || text.starts_with("<html");
              },
              "the address was not that of the file itself: download it again"},
    KnownKind{"a GraphML graph",
              [](std::string_view b) { return b.find("<graphml") != std::string_view::npos; },
              "in Python: g = networkx.read_graphml(file), then "
              "scipy.io.mmwrite('A.mtx', networkx.to_scipy_sparse_array(g))"},
    KnownKind{"an XML file", [](std::string_view b) { return without_blanks(b).starts_with("<?xml"); },
              "write the matrix as Matrix Market: scipy.io.mmwrite('A.mtx', A)"},
    KnownKind{"a JSON file", [](std::string_view b) { return without_blanks(b).starts_with('{'); },
              "write the matrix as Matrix Market: scipy.io.mmwrite('A.mtx', A)"},
    KnownKind{"a pointer of Git LFS",
              [](std::string_view b) { return b.starts_with("version https://git-lfs"); },
              "fetch the file itself: git lfs pull"},
    KnownKind{"data of R", [](std::string_view b) { return b.starts_with("RDX") || b.starts_with("RDA"); },
              "in R: Matrix::writeMM(A, 'A.mtx')"},
    KnownKind{"a Parquet file", [](std::string_view b) { return b.starts_with("PAR1"); },
              "write the matrix as Matrix Market: scipy.io.mmwrite('A.mtx', A)"},
    KnownKind{"a NetCDF file",
              [](std::string_view b) { return b.starts_with("CDF\x01") || b.starts_with("CDF\x02"); },
              "write the matrix as Matrix Market: scipy.io.mmwrite('A.mtx', A)"},
    KnownKind{"a program",
              [](std::string_view b) {
                return b.starts_with(
                    "\x7f"
                    "ELF");
              },
              "was the matrix meant?"},
    KnownKind{"an image",
              [](std::string_view b) { return b.starts_with("\x89PNG") || b.starts_with("\xff\xd8\xff"); },
              "the matrix is in another file"},
    KnownKind{"text in UTF-16",
              [](std::string_view b) { return b.starts_with("\xff\xfe") || b.starts_with("\xfe\xff"); },
              "save it as UTF-8"},
};

bool is_text(std::string_view bytes) {
  return std::ranges::none_of(bytes, [](unsigned char c) {
    return c == 0x7f || (c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v');
  });
}

}  // namespace

std::string describe_unreadable(std::string_view first_bytes, std::string_view known_formats) {
  for (const KnownKind& kind : kinds) {
    if (kind.recognises(first_bytes))
      return fmt::format("this is {}, which is not read: {}", kind.name, kind.help);
  }
  if (!is_text(first_bytes))
    return fmt::format("binary data of no kind that is known; read are {}", known_formats);
  return fmt::format("no Matrix Market banner, and no other format that is known ({}): it begins with {}",
                     known_formats, in_quotes(first_bytes.substr(0, first_bytes.find_first_of("\r\n"))));
}

}  // namespace ayatori::io
