#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/io/matrix_market/locate.hpp"
#include "ayatori/io/matrix_market/pieces.hpp"
#include "ayatori/io/matrix_market/place.hpp"
#include "ayatori/io/matrix_market/words.hpp"
#include "ayatori/io/number.hpp"
#include "ayatori/sparse/complex_form.hpp"

namespace ayatori::io {

namespace matrix_market {

namespace {

/// What rank 0 finds out for all.
struct Beginning {
  Header header;
  bool compressed = false;
};

Beginning read_beginning(const comm::Comm& comm, const ByteSource& source) {
  const Beginning mine = comm::agree(comm, [&] {
    return comm.rank() == 0 ? Beginning{read_header(source), is_compressed(source)} : Beginning{};
  });
  return comm.broadcast(mine, 0);
}

/// The first fault of all ranks' pieces, on all ranks; with offset nowhere if there is none.
Fault first_fault(const comm::Comm& comm, const std::vector<Piece>& pieces) {
  enum : std::size_t { fault, below, above };
  std::array<std::int64_t, 3> first{nowhere, nowhere, nowhere};
  const Fault* mine = nullptr;
  for (const Piece& piece : pieces) {
    if (piece.fault.offset < first[fault]) {
      first[fault] = piece.fault.offset;
      mine = &piece.fault;
    }
    first[below] = std::min(first[below], piece.first_below);
    first[above] = std::min(first[above], piece.first_above);
  }
  const std::int64_t my_offset = first[fault];
  comm.allreduce(std::span<std::int64_t>(first), comm::ReduceOp::min);

  const std::int64_t both_sides = std::max(first[below], first[above]);
  if (both_sides < first[fault]) {
    return {both_sides,
            fmt::format("an entry {} the diagonal, while earlier ones are {} it: of a symmetric matrix, one "
                        "triangle is stored",
                        first[below] > first[above] ? "below" : "above",
                        first[below] > first[above] ? "above" : "below")};
  }
  if (first[fault] == nowhere) return {};
  // A line begins in one piece of one rank.
  const bool finder = mine != nullptr && my_offset == first[fault];
  const auto owner =
      static_cast<int>(comm.allreduce<std::int64_t>(finder ? comm.rank() : comm.size(), comm::ReduceOp::min));
  return {first[fault], comm.broadcast(finder ? mine->what : std::string(), owner)};
}

/// Throws, on all ranks, an InputError about the first thing wrong with the data, if anything is.
void check(const comm::Comm& comm, const ByteSource& source, const Header& header,
           const std::vector<Piece>& pieces) {
  std::int64_t lines = 0;
  for (const Piece& piece : pieces) lines += piece.lines;
  lines = comm.allreduce(lines, comm::ReduceOp::sum);
  const Fault fault = first_fault(comm, pieces);
  if (fault.offset == nowhere && lines == header.entries) return;
  comm::agree(comm, [&] {
    if (comm.rank() != 0) return;
    const Place place = locate(source, header, fault.offset);
    std::string what = fault.what;
    if (place.excess) {
      what = fmt::format("more entries than the {} that line {} promises", header.entries, header.size_line);
    } else if (fault.offset == nowhere) {
      what = fmt::format("the file ends after {} of the {} entries that line {} promises", lines,
                         header.entries, header.size_line);
    }
    throw InputError(located(source.name(), place.line, what));
  });
}

/// Collective. The entries of this rank's share of the data, checked; a batch per piece.
std::vector<Array<sparse::Entry>> read_entries(const comm::Comm& comm, const ByteSource& source,
                                               const Beginning& beginning,
                                               const MatrixMarketReadOptions& options) {
  const Header& header = beginning.header;
  std::vector<Piece> pieces = beginning.compressed ? parse_compressed(comm, source, header, options)
                                                   : parse_plain(comm, source, header, options);
  check(comm, source, header, pieces);
  if (header.format == Format::array) place_array_values(comm, source, header, pieces);
  std::vector<Array<sparse::Entry>> batches;
  for (Piece& piece : pieces) batches.push_back(std::move(piece.entries));
  return batches;
}

std::unique_ptr<ByteSource> open_file(const comm::Comm& comm, const std::string& path) {
  return comm::agree(comm, [&] { return std::make_unique<FileBytes>(path); });
}

}  // namespace

}  // namespace matrix_market

bool looks_like_matrix_market(std::string_view first_bytes) {
  using namespace matrix_market;
  first_bytes = without_byte_order_mark(first_bytes);
  const auto first = std::find_if_not(first_bytes.begin(), first_bytes.end(), is_blank);
  first_bytes.remove_prefix(static_cast<std::size_t>(first - first_bytes.begin()));
  return lower(first_bytes.substr(0, banner_word.size())) == banner_word;
}

std::int64_t matrix_market_columns(const ByteSource& source) {
  return matrix_market::read_header(source).columns;
}

bool matrix_market_is_complex(const ByteSource& source) {
  return matrix_market::read_header(source).is_complex();
}

LoadedMatrix read_matrix_market(const comm::Comm& comm, const std::string& path) {
  return read_matrix_market(comm, *matrix_market::open_file(comm, path));
}

LoadedMatrix read_matrix_market(const comm::Comm& comm, const ByteSource& source,
                                const MatrixMarketReadOptions& options) {
  using namespace matrix_market;
  const Beginning beginning = read_beginning(comm, source);
  const Header& header = beginning.header;
  auto batches = read_entries(comm, source, beginning, options);
  const bool is_complex = header.is_complex();
  const auto self_adjoint = is_complex ? Symmetry::hermitian : Symmetry::symmetric;
  return {assemble_evenly(comm, header.rows, header.columns, is_complex, std::move(batches)),
          {source.name(), "matrix-market", header.symmetry == self_adjoint, source.size(), is_complex}};
}

Array<double> read_matrix_market_vector(const comm::Comm& comm, const std::string& path,
                                        const sparse::RowPartition& partition) {
  return read_matrix_market_vector(comm, *matrix_market::open_file(comm, path), partition);
}

Array<double> read_matrix_market_vector(const comm::Comm& comm, const ByteSource& source,
                                        const sparse::RowPartition& partition,
                                        const MatrixMarketReadOptions& options) {
  using namespace matrix_market;
  const Beginning beginning = read_beginning(comm, source);
  const Header& header = beginning.header;
  const std::int64_t parts = parts_of(header.is_complex());
  const auto elements = comm::agree(comm, [&] {
    if (header.columns == 1 && parts * header.rows == partition.rows())
      return header.is_complex() ? sparse::of_elements(partition) : partition;
    throw InputError(located(source.name(), header.size_line,
                             fmt::format("{} x {}, where a vector of {} x 1 is needed", header.rows,
                                         header.columns, partition.rows() / parts)));
  });
  const sparse::RowBlock block =
      sparse::assemble(comm, elements, parts, read_entries(comm, source, beginning, options));
  Array<double> vector(parts * block.rows(), 0.0);
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k)
      vector[parts * i + block.column[k]] = block.value[k];
  }
  return vector;
}

}  // namespace ayatori::io
