#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/compression/codec.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/io/shared_file.hpp"

namespace ayatori::io {

namespace {

/// Collective. Writes the texts of all ranks, in rank order.
void write_texts(const comm::Comm& comm, const std::string& path, const std::vector<std::string>& texts) {
  std::int64_t bytes = 0;
  for (const std::string& text : texts) bytes += static_cast<std::int64_t>(text.size());
  const std::int64_t first = comm.exclusive_sum(bytes);
  write_shared_file(comm, path, [&](const SharedFile& file) {
    std::int64_t offset = first;
    for (const std::string& text : texts) {
      file.write(text, offset);
      offset += static_cast<std::int64_t>(text.size());
    }
  });
}

/// Appends lines to a text.
class LineWriter {
 public:
  explicit LineWriter(std::string& text) : text_(text) {}

  template <class Number>
  LineWriter& number(Number value) {
    char digits[32];  // the longest double has 24 characters, the longest integer 20
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return *this;
  }
  LineWriter& blank() {
    text_ += ' ';
    return *this;
  }
  void end() { text_ += '\n'; }

 private:
  std::string& text_;
};

constexpr std::int64_t values_per_text = std::int64_t{1} << 16;

/// The entries [first, last), one per line, each of which is `parts` entries of the block.
std::string format_entries(const sparse::RowBlock& block, std::int64_t parts, std::int64_t first,
                           std::int64_t last) {
  std::string text;
  constexpr std::int64_t usual_line = 40;
  text.reserve(static_cast<std::size_t>((last - first) * usual_line));
  LineWriter line(text);
  const auto above = std::upper_bound(block.row_start.begin(), block.row_start.end(), parts * first);
  std::int64_t row = above - block.row_start.begin() - 1;
  for (std::int64_t k = parts * first; k < parts * last; k += parts) {
    while (k >= block.row_start[row + 1]) ++row;
    line.number(block.first_row + row + 1).blank().number(block.column[k] / parts + 1);
    for (std::int64_t part = 0; part < parts; ++part) line.blank().number(block.value[k + part]);
    line.end();
  }
  return text;
}

std::string format_values(std::span<const double> values, std::int64_t parts) {
  std::string text;
  LineWriter line(text);
  for (std::size_t k = 0; k < values.size(); k += parts) {
    line.number(values[k]);
    if (parts > 1) line.blank().number(values[k + 1]);
    line.end();
  }
  return text;
}

std::string_view field_name(bool is_complex) {
  return is_complex ? "complex" : "real";
}

/// The header on rank 0, then `count` values in texts of format(first, last), made by all threads, and
/// compressed as the name of the file says.
template <class Format>
std::vector<std::string> format_all(const comm::Comm& comm, const std::string& path,
                                    const std::string& header, std::int64_t count, Format&& format) {
  const Codec* const codec = codec_of_name(path);
  const auto packed = [&](std::string text) {
    return codec != nullptr ? codec->compress(text) : std::move(text);
  };
  const std::int64_t texts = (count + values_per_text - 1) / values_per_text;
  std::vector<std::string> result(texts + 1);
  if (comm.rank() == 0) result[0] = packed(header);
  FirstException exception;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t k = 0; k < texts; ++k) {
    exception.guard([&] {
      result[k + 1] = packed(format(k * values_per_text, std::min((k + 1) * values_per_text, count)));
    });
  }
  exception.rethrow();
  return result;
}

}  // namespace

void write_matrix_market(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
                         bool is_complex) {
  const std::int64_t parts = parts_of(is_complex);
  const StoredRows stored(comm, block, is_complex);
  const sparse::RowBlock& rows = stored.rows();
  const std::int64_t mine = rows.nonzeros() / parts;
  const std::string header =
      fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field_name(is_complex),
                  rows.global_rows, rows.global_columns / parts, comm.allreduce(mine, comm::ReduceOp::sum));
  const auto texts = comm::agree(comm, [&] {
    return format_all(comm, path, header, mine, [&](std::int64_t first, std::int64_t last) {
      return format_entries(rows, parts, first, last);
    });
  });
  write_texts(comm, path, texts);
}

void write_matrix_market_vector(const comm::Comm& comm, const std::string& path,
                                std::span<const double> local, const sparse::RowPartition& partition,
                                bool is_complex) {
  write_matrix_market_array(comm, path, local, partition.rows() / parts_of(is_complex), 1, is_complex);
}

void write_matrix_market_array(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                               std::int64_t rows, std::int64_t columns, bool is_complex) {
  const std::int64_t parts = parts_of(is_complex);
  const std::string header =
      fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field_name(is_complex), rows, columns);
  const auto texts = comm::agree(comm, [&] {
    const std::int64_t count = static_cast<std::int64_t>(local.size()) / parts;
    return format_all(comm, path, header, count, [&](std::int64_t first, std::int64_t last) {
      return format_values(local.subspan(parts * first, parts * (last - first)), parts);
    });
  });
  write_texts(comm, path, texts);
}

}  // namespace ayatori::io
