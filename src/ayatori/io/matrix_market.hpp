#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/sparse/row_block.hpp"

// Matrix Market files: https://math.nist.gov/MatrixMarket/formats.html, read and written in parallel.
// Accepted beyond the letter of the format: comments and blank lines anywhere behind the banner, a
// byte-order mark of UTF-8 before it, blanks around the words of a line, CRLF line ends, a plus sign,
// Fortran's D exponents, duplicates (summed), and symmetric files that store the upper triangle instead of
// the lower. Values may be complex.

namespace ayatori::io {

/// How the data are cut up among threads. The default suits caches and the latency of reads; tests use tiny
/// pieces.
struct MatrixMarketReadOptions {
  std::int64_t piece_bytes = std::int64_t{4} << 20;
};

/// Whether a content that begins so is Matrix Market.
bool looks_like_matrix_market(std::string_view first_bytes);

/// Collective. A matrix file, plain or compressed, with its rows evenly spread. Besides its rows a rank holds
/// a few pieces of text. Throws InputError, agreed, that names file, line (the first wrong one) and what is
/// wrong.
LoadedMatrix read_matrix_market(const comm::Comm& comm, const std::string& path);

/// Collective. The same from any source, which every rank has.
LoadedMatrix read_matrix_market(const comm::Comm& comm, const ByteSource& source,
                                const MatrixMarketReadOptions& options = {});

/// Collective. A file of one column, array or coordinate (what is missing is zero), spread by `partition`,
/// whose length it must have; of complex numbers the pairs, to which `partition` then belongs. Errors as
/// above.
Array<double> read_matrix_market_vector(const comm::Comm& comm, const std::string& path,
                                        const sparse::RowPartition& partition);
Array<double> read_matrix_market_vector(const comm::Comm& comm, const ByteSource& source,
                                        const sparse::RowPartition& partition,
                                        const MatrixMarketReadOptions& options = {});

/// Columns that the header of a source names. Throws InputError.
std::int64_t matrix_market_columns(const ByteSource& source);

/// Whether the header of a source names complex values. Throws InputError.
bool matrix_market_is_complex(const ByteSource& source);

/// Collective. Writes `coordinate real general`, or, of a block that is the real form of a complex matrix,
/// `coordinate complex general`; the values as the shortest decimals that read back as the same doubles. Each
/// rank holds the text of its rows (about twice the size of the matrix), and all write at the same time, into
/// a file system that they share. A path that ends in .gz, .bz2, .xz or .zst is compressed, if this is built
/// with the library. Whole or not at all. Throws EnvironmentError, agreed.
void write_matrix_market(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
                         bool is_complex = false);

/// Collective. Writes `array real general` with one column, or, of pairs, `array complex general`; in the
/// same way.
void write_matrix_market_vector(const comm::Comm& comm, const std::string& path,
                                std::span<const double> local, const sparse::RowPartition& partition,
                                bool is_complex = false);

/// Collective. Writes `array real general` or, of pairs, `array complex general`: rows x columns values,
/// column by column, of which each rank has a piece, in rank order; in the same way.
void write_matrix_market_array(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                               std::int64_t rows, std::int64_t columns, bool is_complex = false);

}  // namespace ayatori::io
