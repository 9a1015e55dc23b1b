#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/binary/pointers.hpp"
#include "ayatori/io/numpy.hpp"
#include "ayatori/io/numpy/npy.hpp"
#include "ayatori/io/numpy/zip.hpp"

namespace ayatori::io {

namespace {

using numpy::ArrayHeader;

/// One of the arrays in an archive.
class ArrayMember {
 public:
  ArrayMember(const ByteSource& source, const zip::Member& member)
      : stream_(zip::open_member(source, member)),
        name_(fmt::format("{}, {}", source.name(), member.name)),
        header_(numpy::read_array_header(*stream_, member.bytes, name_)) {}

  const ArrayHeader& header() const { return header_; }
  const std::string& name() const { return name_; }
  NumberStream numbers() const {
    if (header_.is_text) throw InputError(name_ + ": the array is of text, where numbers are needed");
    return {*stream_, header_.type, name_, "numbers"};
  }
  /// Letters of four bytes are cut down to one.
  std::string text() const {
    std::string bytes(static_cast<std::size_t>(header_.text_bytes), '\0');
    bytes.resize(stream_->read(bytes));
    std::erase(bytes, '\0');
    return bytes;
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  ArrayHeader header_;
};

/// The archive and what its matrix looks like.
class Archive {
 public:
  explicit Archive(const ByteSource& source) : source_(source), members_(zip::read_directory(source)) {
    if (!has("format") || !has("shape") || !has("data")) {
      throw InputError(
          fmt::format("{}: this zip archive holds no sparse matrix as scipy.sparse.save_npz writes it: "
                      "it holds {}",
                      source.name(), names()));
    }
    const ArrayMember kind(source, member("format"));
    if (!kind.header().is_text) throw InputError(kind.name() + ": no text");
    form_ = kind.text();
    const ArrayMember shape(source, member("shape"));
    if (shape.header().count != 2)
      throw InputError(
          fmt::format("{}: {} dimensions, where two are needed", shape.name(), shape.header().count));
    std::int64_t sizes[2];
    shape.numbers().integers(sizes);
    rows = sizes[0];
    columns = sizes[1];
    if (rows <= 0 || columns <= 0)
      throw InputError(fmt::format("{}: the matrix is empty ({} x {})", source.name(), rows, columns));
    if (std::max(rows, columns) > most_rows(source))
      throw InputError(fmt::format("{}: {} x {} is out of all proportion to a file of {} bytes",
                                   source.name(), rows, columns, source.size()));
  }

  std::int64_t rows = 0;
  std::int64_t columns = 0;

  const std::string& form() const { return form_; }
  bool is_complex() const { return open("data").header().type.is_complex; }
  bool has(const std::string& name) const {
    return std::ranges::any_of(members_, [&](const auto& member) { return member.name == name + ".npy"; });
  }
  ArrayMember open(const std::string& name) const { return {source_, member(name)}; }
  const std::string& name() const { return source_.name(); }

 private:
  const zip::Member& member(const std::string& name) const {
    const auto found = std::ranges::find(members_, name + ".npy", &zip::Member::name);
    if (found == members_.end())
      throw InputError(fmt::format("{}: the archive has no array {}", source_.name(), in_quotes(name)));
    return *found;
  }
  std::string names() const {
    std::string list;
    constexpr std::size_t longest = 200;
    for (const auto& member : members_) {
      if (list.size() < longest) list.append(list.empty() ? "" : ", ").append(in_quotes(member.name));
    }
    return list.empty() ? "nothing" : list;
  }

  const ByteSource& source_;
  std::vector<zip::Member> members_;
  std::string form_;
};

/// The member with a number for each entry.
ArrayMember open_for_entries(const Archive& archive, const std::string& name, std::int64_t entries) {
  ArrayMember member = archive.open(name);
  if (member.header().count != entries)
    throw InputError(fmt::format("{}: {} numbers, where there are {} entries", member.name(),
                                 member.header().count, entries));
  return member;
}

/// Reads indices of a share, each from 0 to `size` - 1.
template <class Use>
void read_indices(const Archive& archive, const std::string& name, std::int64_t entries, std::int64_t size,
                  Range share, Use&& use) {
  const ArrayMember member = open_for_entries(archive, name, entries);
  NumberStream numbers = member.numbers();
  io::read_indices(numbers, size, share, use);
}

/// The entries of a share of compressed rows (csr) or columns (csc).
void read_compressed(const Archive& archive, std::int64_t entries, Range share,
                     Array<sparse::Entry>& result) {
  const bool by_rows = archive.form() == "csr";
  const std::int64_t major = by_rows ? archive.rows : archive.columns;
  const ArrayMember pointers = archive.open("indptr");
  if (pointers.header().count != major + 1)
    throw InputError(fmt::format("{}: {} numbers, where {} are needed", pointers.name(),
                                 pointers.header().count, major + 1));
  NumberStream numbers = pointers.numbers();
  std::vector<std::int64_t> ahead;
  std::size_t used = 0;
  std::int64_t left = major + 1;
  const auto next = [&] {
    if (used == ahead.size()) {
      ahead.resize(static_cast<std::size_t>(std::min<std::int64_t>(left, 8192)));
      numbers.integers(ahead);
      left -= static_cast<std::int64_t>(ahead.size());
      used = 0;
    }
    return ahead[used++];
  };
  const auto span = read_pointers(major, entries, share, next, [&](std::int64_t j, std::int64_t start) {
    throw pointer_error(pointers.name(), j, start, entries);
  });
  std::size_t at = 0;
  std::int64_t k = share.begin;
  read_indices(archive, "indices", entries, by_rows ? archive.columns : archive.rows, share,
               [&](std::int64_t minor) {
                 const std::int64_t i = span.row_of(k++, at);
                 result.push_back(by_rows ? sparse::Entry{i, minor, 0.0} : sparse::Entry{minor, i, 0.0});
               });
}

/// The entries of a share of a list of places.
void read_places(const Archive& archive, std::int64_t entries, Range share, Array<sparse::Entry>& result) {
  read_indices(archive, "row", entries, archive.rows, share, [&](std::int64_t row) {
    result.push_back({row, 0, 0.0});
  });
  std::size_t k = 0;
  read_indices(archive, "col", entries, archive.columns, share,
               [&](std::int64_t column) { result[k++].column = column; });
}

Array<sparse::Entry> read_entries(const Archive& archive, int ranks, int rank) {
  const std::int64_t entries = archive.open("data").header().count;
  const Range share = split_evenly(entries, ranks, rank);
  Array<sparse::Entry> result;
  if (archive.form() == "csr" || archive.form() == "csc") {
    read_compressed(archive, entries, share, result);
  } else if (archive.form() == "coo" && archive.has("row") && archive.has("col")) {
    read_places(archive, entries, share, result);
  } else {
    throw InputError(
        fmt::format("{}: the matrix is in the form {}, which is not read: save it anew, "
                    "scipy.sparse.save_npz('A.npz', A.tocsr())",
                    archive.name(), in_quotes(archive.form())));
  }
  if (archive.is_complex()) split_into_parts(result);
  std::size_t k = 0;
  const ArrayMember member = open_for_entries(archive, "data", entries);
  member.numbers().for_each_in<double>(share, [&](double value) { result[k++].value = value; });
  return result;
}

}  // namespace

bool looks_like_zip(std::string_view first_bytes) {
  return first_bytes.starts_with("PK\3\4") || first_bytes.starts_with("PK\5\6");
}

bool npz_is_complex(const ByteSource& source) {
  return Archive(source).is_complex();
}

LoadedMatrix read_npz(const comm::Comm& comm, const ByteSource& source) {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool is_complex = false;
  std::vector<Array<sparse::Entry>> batches(1);
  comm::agree(comm, [&] {
    const Archive archive(source);
    rows = archive.rows;
    columns = archive.columns;
    is_complex = archive.is_complex();
    batches[0] = read_entries(archive, comm.size(), comm.rank());
  });
  return {assemble_evenly(comm, rows, columns, is_complex, std::move(batches)),
          {source.name(), "npz", false, source.size(), is_complex}};
}

}  // namespace ayatori::io
