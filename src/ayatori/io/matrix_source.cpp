#include "ayatori/io/matrix_source.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "ayatori/base/find_named.hpp"
#include "ayatori/base/memory.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/standard_output.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/compression/codec.hpp"
#include "ayatori/io/format.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/hdf5.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/io/numpy.hpp"
#include "ayatori/io/petsc_binary.hpp"
#include "ayatori/io/standard_streams.hpp"
#include "ayatori/sparse/complex_form.hpp"

namespace ayatori::io {

namespace {

/// A way to write: by the end of the path.
struct OutputFormat {
  std::string_view name;
  bool is_text;  ///< which may be compressed, and goes to standard output
  void (*write_matrix)(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
                       bool is_complex);
  void (*write_vector)(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                       const sparse::RowPartition& partition, bool is_complex);
};

constexpr std::array output_formats{
    OutputFormat{".mtx", true, write_matrix_market, write_matrix_market_vector},
    OutputFormat{".petsc", false, write_petsc_matrix, write_petsc_vector},
    OutputFormat{".npz", false, write_npz, nullptr},
    OutputFormat{".npy", false, nullptr, write_npy_vector},
#ifdef AYATORI_HAS_HDF5
    OutputFormat{".h5", false, nullptr, write_hdf5_vector},
#endif
};

constexpr std::string_view input_device = "/dev/stdin";

/// Whether anything is at this path, even if it cannot be read.
bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool is_digits(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Where something is: FILE, FILE:NAME, FILE:COLUMN or FILE:NAME:COLUMN.
struct Place {
  std::string path;
  std::string part;
  std::int64_t column = 0;  ///< from 1; 0: none is named

  bool is_standard_input() const { return io::is_standard_input(path); }
};

/// Where a file is that exists; nothing if there is none. A path that has a colon itself goes before all.
std::optional<Place> find_place(const std::string& spec) {
  const auto is_there = [](const std::string& path) {
    return path == standard_stream || path == input_device || exists(path);
  };
  if (is_there(spec)) return Place{spec, "", 0};
  for (std::size_t colon = spec.rfind(':'); colon != std::string::npos && colon > 0;
       colon = spec.rfind(':', colon - 1)) {
    Place place{spec.substr(0, colon), spec.substr(colon + 1), 0};
    if (!is_there(place.path)) continue;
    const auto last = place.part.rfind(':') + 1;  // 0 without a colon
    const auto column = number_in<std::int64_t>(std::string_view(place.part).substr(last));
    if (column && *column > 0 && is_digits(place.part.substr(last))) {
      place.column = *column;
      place.part.resize(last == 0 ? 0 : last - 1);
    }
    return place;
  }
  return std::nullopt;
}

std::unique_ptr<ByteSource> open(const Place& place) {
  if (place.is_standard_input()) return standard_input();
  return std::make_unique<FileBytes>(place.path);
}

/// The content of a source, kept in memory.
class ExpandedBytes final : public ByteSource {
 public:
  explicit ExpandedBytes(const ByteSource& source)
      : ByteSource(source.name(), 0), content_(all_bytes(source, available_memory() / 2)) {
    size_ = static_cast<std::int64_t>(content_.size());
  }
  std::size_t read(std::int64_t offset, std::span<char> destination) const override {
    return MemoryBytes(content_).read(offset, destination);
  }

 private:
  std::string content_;
};

/// What rank 0, which alone looks at the file system first, has found out: ranks that look for themselves
/// could see different things.
struct Opened {
  std::unique_ptr<ByteSource> source;  ///< on rank 0, and on the others unless rank 0 reads for all
  const FileFormat* format = nullptr;
  bool for_all = false;  ///< rank 0 reads for all: the others cannot, or would all decompress for themselves
};

void check_part(const Place& place, const FileFormat& format) {
  if (place.part.empty() || format.has_parts) return;
  throw InputError(fmt::format("{}: a {} file holds one thing: nothing in it is called {}", place.path,
                               format.name, in_quotes(place.part)));
}

/// Collective. Opens what rank 0 has found.
Opened open_by_content(const comm::Comm& comm, const Place& place) {
  Opened opened;
  std::size_t number = 0;
  comm::agree(comm, [&] {
    if (comm.rank() != 0) return;
    opened.source = open(place);
    opened.format = &format_of(*opened.source);
    check_part(place, *opened.format);
    const bool is_expanded = !opened.format->in_order && is_compressed(*opened.source);
    opened.for_all = place.is_standard_input() || is_expanded;
    if (is_expanded) opened.source = std::make_unique<ExpandedBytes>(*opened.source);
    number = static_cast<std::size_t>(opened.format - formats().data());
  });
  opened.format = &formats()[comm.broadcast(number, 0)];
  opened.for_all = comm.broadcast(opened.for_all, 0);
  comm::agree(comm, [&] {
    if (comm.rank() != 0 && !opened.for_all) opened.source = open(place);
  });
  return opened;
}

/// Rows evenly spread, those of a real form in pairs.
sparse::RowPartition even_rows(std::int64_t rows, int ranks, bool is_complex) {
  if (!is_complex) return sparse::RowPartition::even(rows, ranks);
  return sparse::of_pairs(sparse::RowPartition::even(rows / 2, ranks));
}

/// Collective. Spreads what rank 0 alone holds.
LoadedMatrix spread(const comm::Comm& comm, LoadedMatrix loaded) {
  auto& [block, facts] = loaded;
  const auto sizes = comm.broadcast(std::array{block.global_rows, block.global_columns}, 0);
  if (comm.rank() != 0) block = {sizes[0], sizes[1], sizes[0], {}, {}, {}};
  if (comm.rank() != 0) block.row_start.assign(1, 0);
  facts.name = comm.broadcast(facts.name, 0);
  facts.format = comm.broadcast(facts.format, 0);
  facts.declared_symmetric = comm.broadcast(facts.declared_symmetric, 0);
  facts.bytes = comm.broadcast(facts.bytes, 0);
  facts.is_complex = comm.broadcast(facts.is_complex, 0);
  block = sparse::redistribute(comm, block, even_rows(sizes[0], comm.size(), facts.is_complex));
  return loaded;
}

/// Collective.
LoadedMatrix read(const comm::Comm& comm, const Opened& opened, const Place& place) {
  if (!opened.for_all) return opened.format->read_matrix(comm, *opened.source, place.part);
  return spread(comm, comm::agree(comm, [&] {
                  if (comm.rank() != 0) return LoadedMatrix{};
                  return opened.format->read_matrix(comm::Comm::self(), *opened.source, place.part);
                }));
}

/// Collective. One of the columns, from 1, of a matrix, spread by `partition`; of a complex matrix the pairs.
/// A matrix of one row is taken for a column.
Array<double> take_column(const comm::Comm& comm, const LoadedMatrix& loaded, std::int64_t column,
                          const sparse::RowPartition& partition) {
  const auto& stored = loaded.block;
  const auto& facts = loaded.facts;
  const std::int64_t parts = parts_of(facts.is_complex);
  const bool is_row = stored.global_rows == parts && stored.global_columns == partition.rows() && column <= 1;
  const std::int64_t columns = is_row ? 1 : stored.global_columns / parts;
  comm::agree(comm, [&] {
    if (!is_row && stored.global_rows != partition.rows()) {
      throw InputError(fmt::format("{}: {} x {}, where a vector of {} x 1 is needed", facts.name,
                                   stored.global_rows / parts, stored.global_columns / parts,
                                   partition.rows() / parts));
    }
    if (column > columns)
      throw InputError(fmt::format("{}: there is no column {} of {}", facts.name, column, columns));
    if (column == 0 && columns > 1)
      throw InputError(fmt::format("{0}: {1} columns, where one is needed: say which, {0}:1 to {0}:{1}",
                                   facts.name, columns));
  });
  const auto block =
      is_row ? sparse::transpose(comm, stored, partition) : sparse::redistribute(comm, stored, partition);
  return comm::agree(comm, [&] {
    // In the real form, the first column of a value is the pair; transposed it is that of the conjugate.
    const std::int64_t taken = parts * std::max<std::int64_t>(column - 1, 0);
    Array<double> values(static_cast<std::size_t>(block.rows()), 0.0);
    for (std::int64_t i = 0; i < block.rows(); ++i) {
      const bool is_conjugated = is_row && i % parts == 1;
      for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k)
        if (block.column[k] == taken) values[i] = is_conjugated ? -block.value[k] : block.value[k];
    }
    return values;
  });
}

/// Real numbers as pairs.
Array<double> with_zeros(std::span<const double> values) {
  Array<double> pairs(2 * values.size(), 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) pairs[2 * k] = values[k];
  return pairs;
}

/// Collective. What `place` names, as it is in the file, spread by `partition`.
Array<double> read_vector(const comm::Comm& comm, const Opened& opened, const Place& place,
                          const sparse::RowPartition& partition) {
  const auto read_one = opened.format->read_vector;
  if (read_one == nullptr || place.column > 0)
    return take_column(comm, read(comm, opened, place), place.column, partition);
  if (!opened.for_all) return read_one(comm, *opened.source, partition);
  const auto of_first = comm::agree(comm, [&] {
    return comm.rank() != 0 ? Array<double>{}
                            : read_one(comm::Comm::self(), *opened.source,
                                       sparse::RowPartition::even(partition.rows(), 1));
  });
  return sparse::redistribute(comm, of_first, sparse::RowPartition::on_first(partition.rows(), comm.size()),
                              partition);
}

/// Collective. The place that `spec` names, on all ranks; nothing if there is none.
std::optional<Place> find_place(const comm::Comm& comm, const std::string& spec) {
  auto found = comm::agree(comm, [&] { return comm.rank() == 0 ? find_place(spec) : std::nullopt; });
  if (!comm.broadcast(found.has_value(), 0)) return std::nullopt;
  Place place = found.value_or(Place{});
  place.path = comm.broadcast(place.path, 0);
  place.part = comm.broadcast(place.part, 0);
  place.column = comm.broadcast(place.column, 0);
  return place;
}

LoadedMatrix load_generated(const comm::Comm& comm, const std::string& spec) {
  comm::agree(comm, [&] {
    if (is_generator(spec)) return;
    const auto name = std::string_view(spec).substr(0, spec.find(':'));
    if (name.find_first_of("./") != std::string_view::npos)  // no generator is called so
      throw InputError(fmt::format("{}: there is no such file", spec));
    throw InputError(fmt::format("{}: there is no such file, and no generator of this name: {}", spec,
                                 choose_from(name, names_in(generators()))));
  });
  const Generator& generator =
      find_named(generators(), std::string_view(spec).substr(0, spec.find(':')), "generator");
  return {generate(comm, spec), {spec, "generator", generator.symmetric, 0, generator.is_complex}};
}

/// The ends of names that can be written by one of the members of OutputFormat.
template <class Write>
std::vector<std::string> extensions(Write OutputFormat::*write) {
  std::vector<std::string> names;
  for (const OutputFormat& format : output_formats) {
    if (format.*write == nullptr) continue;
    names.emplace_back(format.name);
    for (const Codec& codec : codecs())
      if (format.is_text && codec.compress != nullptr)
        names.push_back(std::string(format.name).append(codec.suffix));
  }
  return names;
}

template <class Write>
Write writer_of(const std::string& path, Write OutputFormat::*write) {
  if (is_standard_output(path)) return output_formats.front().*write;
  const Codec* const codec = codec_of_name(path);
  const auto content = std::string_view(path).substr(0, path.size() - (codec ? codec->suffix.size() : 0));
  for (const OutputFormat& format : output_formats) {
    if (!content.ends_with(format.name) || format.*write == nullptr) continue;
    if (codec == nullptr) return format.*write;
    if (format.is_text && codec->compress != nullptr) return format.*write;
  }
  throw InputError(fmt::format("{}: the name of a file to write ends in one of {}", path,
                               fmt::join(extensions(write), ", ")));
}

}  // namespace

LoadedMatrix load_matrix(const comm::Comm& comm, const std::string& source) {
  const auto place = find_place(comm, source);
  if (!place) return load_generated(comm, source);
  comm::agree(comm, [&] {
    if (place->column > 0)
      throw InputError(fmt::format("{}: one column of a file is a vector, not a matrix", source));
  });
  return read(comm, open_by_content(comm, *place), *place);
}

std::int64_t count_vectors(const comm::Comm& comm, const std::string& source) {
  const auto place = find_place(comm, source);
  if (!place || place->column > 0 || place->is_standard_input()) return 1;
  const Opened opened = open_by_content(comm, *place);
  const auto count = comm::agree(comm, [&]() -> std::int64_t {
    if (comm.rank() != 0 || opened.format->find_vectors == nullptr) return 1;
    return opened.format->find_vectors(*opened.source, place->part).columns;
  });
  return comm.broadcast(count, 0);
}

Array<double> load_vector(const comm::Comm& comm, const std::string& source,
                          const sparse::RowPartition& partition, bool for_complex) {
  Place place = find_place(comm, source).value_or(Place{source, "", 0});
  const Opened opened = open_by_content(comm, place);
  const FileFormat& format = *opened.format;
  const bool is_complex_here = comm::agree(comm, [&] {
    if (format.find_vectors == nullptr)
      throw InputError(
          fmt::format("{}: a {} file holds no vector that can be read", place.path, format.name));
    if (comm.rank() != 0) return false;
    if (format.has_parts) place.part = format.find_vectors(*opened.source, place.part).part;
    const bool is_complex = format.is_complex != nullptr && format.is_complex(*opened.source, place.part);
    if (is_complex && !for_complex) {
      throw InputError(fmt::format(
          "{}: complex values, but the matrix is real: give real and imaginary part as two right-hand sides",
          place.path));
    }
    return is_complex;
  });
  place.part = comm.broadcast(place.part, 0);
  const bool is_complex = comm.broadcast(is_complex_here, 0);
  if (is_complex || !for_complex) return read_vector(comm, opened, place, partition);
  const auto elements = comm::agree(comm, [&] { return sparse::of_elements(partition); });
  const auto values = read_vector(comm, opened, place, elements);
  return comm::agree(comm, [&] { return with_zeros(values); });
}

std::string file_of(const std::string& source) {
  const auto place = find_place(source);
  return place ? place->path : source;
}

bool is_standard_input(const std::string& source) {
  return source == standard_stream || source == input_device ||
         source.starts_with(std::string(input_device) + ":");
}

void check_vector_output(const std::string& path) {
  writer_of(path, &OutputFormat::write_vector);
}

void check_matrix_output(const std::string& path) {
  writer_of(path, &OutputFormat::write_matrix);
}

void save_matrix(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
                 bool is_complex) {
  const auto write = comm::agree(comm, [&] { return writer_of(path, &OutputFormat::write_matrix); });
  if (!is_standard_output(path)) return write(comm, path, block, is_complex);
  const auto all =
      sparse::redistribute(comm, block, sparse::RowPartition::on_first(block.global_rows, comm.size()));
  comm::agree(comm, [&] {
    if (comm.rank() == 0) write(comm::Comm::self(), path, all, is_complex);
  });
}

void save_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                 const sparse::RowPartition& partition, bool is_complex) {
  const auto write = comm::agree(comm, [&] { return writer_of(path, &OutputFormat::write_vector); });
  if (!is_standard_output(path)) return write(comm, path, local, partition, is_complex);
  const auto all = comm.gatherv(local, 0);
  comm::agree(comm, [&] {
    const auto alone = sparse::RowPartition::even(partition.rows(), 1);
    if (comm.rank() == 0) write(comm::Comm::self(), path, all.values, alone, is_complex);
  });
}

}  // namespace ayatori::io
