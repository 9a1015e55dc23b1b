#include "ayatori/io/matrix_source.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "ayatori/base/find_named.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/harwell_boeing.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/io/petsc_binary.hpp"

namespace ayatori::io {

namespace {

/// A file format: how its content begins, and how to read it.
struct FileFormat {
  std::string_view name;
  bool (*recognises)(std::string_view first_bytes);
  LoadedMatrix (*read_matrix)(const comm::Comm& comm, const std::string& path);
  Array<double> (*read_vector)(const comm::Comm& comm, const std::string& path,
                               const sparse::RowPartition& partition);  ///< null: the format has none
};

constexpr std::array formats{
    FileFormat{"Matrix Market", looks_like_matrix_market, read_matrix_market, read_matrix_market_vector},
    FileFormat{"PETSc binary", looks_like_petsc, read_petsc_matrix, read_petsc_vector},
    FileFormat{"Harwell-Boeing", looks_like_harwell_boeing, read_harwell_boeing, nullptr},
};

/// A way to write: by the end of the path.
struct OutputFormat {
  std::string_view name;
  void (*write_matrix)(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block);
  void (*write_vector)(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                       const sparse::RowPartition& partition);
};

template <Compression compression>
constexpr OutputFormat matrix_market_output(std::string_view extension) {
  return {extension,
          [](const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block) {
            write_matrix_market(comm, path, block, compression);
          },
          [](const comm::Comm& comm, const std::string& path, std::span<const double> local,
             const sparse::RowPartition& partition) {
            write_matrix_market_vector(comm, path, local, partition, compression);
          }};
}

constexpr std::array output_formats{
    matrix_market_output<Compression::none>(".mtx"),
    matrix_market_output<Compression::gzip>(".mtx.gz"),
    OutputFormat{".petsc", write_petsc_matrix, write_petsc_vector},
};

/// Whether anything is at this path, even if it cannot be read.
bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/// The place in `formats` of a file's format. Throws InputError.
std::size_t format_of(const std::string& path) {
  const FileBytes file(path);
  if (file.size() == 0) throw InputError(path + ": the file is empty");
  constexpr std::size_t enough_to_tell = 1024;
  const std::string beginning = first_bytes(file, enough_to_tell);
  for (std::size_t k = 0; k < formats.size(); ++k) {
    if (formats[k].recognises(beginning)) return k;
  }
  throw InputError(
      fmt::format("{}, line 1: no Matrix Market banner, and no other format that is known ({}): it begins "
                  "with {}",
                  path, names_of(std::span<const FileFormat>(formats)),
                  in_quotes(beginning.substr(0, beginning.find('\n')))));
}

/// Collective. What `ask` says on rank 0, which alone looks at the file system: ranks that look for
/// themselves could see different things.
template <class Ask>
auto ask_rank_0(const comm::Comm& comm, Ask&& ask) {
  using Answer = std::invoke_result_t<Ask>;
  return comm.broadcast(comm::agree(comm, [&] { return comm.rank() == 0 ? ask() : Answer{}; }), 0);
}

LoadedMatrix load_generated(const comm::Comm& comm, const std::string& spec) {
  comm::agree(comm, [&] {
    if (is_generator(spec)) return;
    throw InputError(fmt::format("{}: there is no such file, and no generator of this name: there are {}",
                                 spec, names_of(generators())));
  });
  const Generator& generator =
      find_named(generators(), std::string_view(spec).substr(0, spec.find(':')), "generator");
  return {generate(comm, spec), {spec, "generator", generator.symmetric, 0}};
}

const OutputFormat& output_format_of(const std::string& path) {
  for (const OutputFormat& format : output_formats) {
    if (path.ends_with(format.name)) return format;
  }
  throw InputError(fmt::format("{}: the name of a file to write ends in one of {}", path,
                               names_of(std::span<const OutputFormat>(output_formats))));
}

}  // namespace

LoadedMatrix load_matrix(const comm::Comm& comm, const std::string& source) {
  if (!ask_rank_0(comm, [&] { return exists(source); })) return load_generated(comm, source);
  return formats[ask_rank_0(comm, [&] { return format_of(source); })].read_matrix(comm, source);
}

Array<double> load_vector(const comm::Comm& comm, const std::string& path,
                          const sparse::RowPartition& partition) {
  const FileFormat& format = formats[ask_rank_0(comm, [&] { return format_of(path); })];
  comm::agree(comm, [&] {
    if (format.read_vector != nullptr) return;
    throw InputError(fmt::format("{}: a {} file holds no vector that can be read", path, format.name));
  });
  return format.read_vector(comm, path, partition);
}

void check_output_format(const std::string& path) {
  output_format_of(path);
}

void save_matrix(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block) {
  comm::agree(comm, [&] { return &output_format_of(path); })->write_matrix(comm, path, block);
}

void save_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                 const sparse::RowPartition& partition) {
  comm::agree(comm, [&] { return &output_format_of(path); })->write_vector(comm, path, local, partition);
}

}  // namespace ayatori::io
