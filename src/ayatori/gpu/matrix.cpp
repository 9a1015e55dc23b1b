#include "ayatori/gpu/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"

namespace ayatori::gpu {

namespace {

/// More diagonals than that are never few.
constexpr std::size_t most_diagonals = 64;
/// Storage that padding may take, against that of the entries.
constexpr double most_padding = 1.5;

constexpr std::string_view csr_name = "csr";
constexpr std::string_view chunks_name = "csr-chunks";
constexpr std::string_view sell_name = "sell";
constexpr std::string_view diagonals_name = "diagonals";
constexpr std::string_view block_name = "block-sell";

std::int64_t row_length(const sparse::Csr& a, std::int64_t i) {
  return a.row_start[i + 1] - a.row_start[i];
}

std::int64_t slices_of(std::int64_t rows) {
  return (rows + slice_rows - 1) / slice_rows;
}

/// Whether rows of `block` are dense blocks: the same columns, in whole blocks.
bool has_blocks(const sparse::Csr& a, int block) {
  if (a.rows == 0 || a.rows % block != 0 || a.columns % block != 0) return false;
  for (std::int32_t node = 0; node < a.rows / block; ++node) {
    const std::int64_t first = a.row_start[std::int64_t{node} * block];
    const std::int64_t length = row_length(a, std::int64_t{node} * block);
    if (length % block != 0) return false;
    for (std::int64_t k = 0; k < length; k += block)
      if (a.column[first + k] % block != 0 ||
          a.column[first + k + block - 1] != a.column[first + k] + block - 1)
        return false;
    for (int r = 1; r < block; ++r) {
      const std::int64_t row = std::int64_t{node} * block + r;
      if (row_length(a, row) != length) return false;
      const std::int32_t* columns = a.column.data();
      if (!std::equal(columns + first, columns + first + length, columns + a.row_start[row])) return false;
    }
  }
  return true;
}

/// Where slices of 32 units of `unit` rows begin, and where the last one ends, in blocks of `unit` rows. A
/// unit is as long as its first row, over `unit`.
Array<std::int64_t> slice_starts(const sparse::Csr& a, int unit) {
  const std::int64_t units = a.rows / unit;
  const std::int64_t slices = slices_of(units);
  Array<std::int64_t> start(slices + 1, 0);
  for (std::int64_t s = 0; s < slices; ++s) {
    std::int64_t longest = 0;
    for (std::int64_t u = s * slice_rows; u < std::min<std::int64_t>(units, (s + 1) * slice_rows); ++u)
      longest = std::max(longest, row_length(a, u * unit) / unit);
    start[s + 1] = start[s] + longest * slice_rows;
  }
  return start;
}

std::vector<std::int32_t> find_diagonals(const sparse::Csr& a) {
  std::vector<char> is_there(std::size_t(a.rows) + a.columns, 0);  // by offset + rows
  std::vector<std::int32_t> offsets;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      char& mark = is_there[a.column[k] - i + a.rows];
      if (mark == 0) offsets.push_back(a.column[k] - i);
      mark = 1;
    }
    if (offsets.size() > most_diagonals) return {};
  }
  std::ranges::sort(offsets);
  return offsets;
}

/// Bytes that a device moves in the time that a thread takes for one more entry of its row.
constexpr double bytes_per_entry_of_a_thread = 3e5;
/// The share of the shorter of both that is not hidden behind the longer.
constexpr double not_hidden = 0.25;
/// Where rows are made of chunks, or by groups of threads, less of the bandwidth is reached.
constexpr double slower_in_chunks = 1.3;
constexpr double slower_in_groups = 1.5;

int threads_of_a_row(const FormatFacts& facts) {
  const double mean = static_cast<double>(facts.entries) / std::max(facts.rows, 1);
  return mean < 6 ? 2 : mean < 48 ? 8 : 32;
}

template <class V>
V stored(double value) {
  if constexpr (std::is_same_v<V, Half>) {
    return to_half(static_cast<float>(value));
  } else {
    return static_cast<V>(value);
  }
}

}  // namespace

/// Lays a matrix out on the host and carries it over.
class MatrixBuilder {
 public:
  MatrixBuilder(Device& device, const sparse::Csr& a, const FormatFacts& facts)
      : device_(device), a_(a), facts_(facts) {}

  template <class V, class R>
  Matrix<R> make(std::string_view format) {
    Matrix<R> matrix;
    matrix.device_ = &device_;
    matrix.rows_ = a_.rows;
    if (format == diagonals_name) {
      matrix.view_ = diagonals<V, R>();
    } else if (format == sell_name) {
      matrix.view_ = sell<V, R>();
    } else if constexpr (std::is_same_v<V, R>) {
      if (format == csr_name) {
        matrix.view_ = csr<V, R>();
      } else if (format == chunks_name) {
        matrix.view_ = chunks<V, R>();
      } else if (facts_.block == 2) {
        matrix.view_ = block_sell<V, R, 2>();
      } else {
        matrix.view_ = block_sell<V, R, 3>();
      }
    }
    matrix.format_ = format;
    matrix.bytes_ = bytes_;
    matrix.arrays_ = std::move(arrays_);
    return matrix;
  }

 private:
  template <class T>
  T* room(std::size_t n) {
    arrays_.emplace_back(device_, std::max<std::size_t>(n * sizeof(T), 1));
    return reinterpret_cast<T*>(arrays_.back().data());
  }
  template <class T>
  T* carry(const Array<T>& values) {
    T* there = room<T>(values.size());
    if (!values.empty()) device_.copy_in(there, values.data(), values.size() * sizeof(T));
    bytes_ += static_cast<std::int64_t>(values.size() * sizeof(T));
    return there;
  }
  template <class V>
  const V* carry_values() {
    Array<V> values(a_.value.size());
    parallel_for(a_.nonzeros(), [&](std::int64_t k) { values[k] = stored<V>(a_.value[k]); });
    return carry(values);
  }

  template <class V, class R>
  CsrView<V, R> csr() {
    return {a_.rows, threads_of_a_row(facts_), carry(a_.row_start), carry(a_.column), carry_values<V>()};
  }

  template <class V, class R>
  ChunkedView<V, R> chunks() {
    constexpr std::int64_t chunk = ChunkedView<V, R>::chunk;
    const std::int64_t count = std::max<std::int64_t>((facts_.entries + chunk - 1) / chunk, 1);
    Array<std::int32_t> start(a_.row_start.size());
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<std::int32_t>(a_.row_start[i]);
    Array<std::int32_t> first(count + 1, 0);
    for (std::int64_t c = 1; c < count; ++c) {
      const auto next = std::upper_bound(a_.row_start.begin(), a_.row_start.end(), c * chunk);
      first[c] = static_cast<std::int32_t>(next - a_.row_start.begin()) - 1;
    }
    first[count] = std::max(a_.rows - 1, 0);
    return {a_.rows,
            static_cast<std::int32_t>(count),
            carry(start),
            carry(a_.column),
            carry_values<V>(),
            carry(first),
            room<R>(count),
            room<R>(count),
            room<double>(count * most_sums)};
  }

  template <class V, class R>
  SellView<V, R> sell() {
    const std::int64_t slices = slices_of(a_.rows);
    const Array<std::int64_t> start = slice_starts(a_, 1);
    Array<std::int32_t> column(start.back());
    Array<V> value(start.back());
    parallel_for(slices, [&](std::int64_t s) {
      for (std::int64_t lane = 0; lane < slice_rows; ++lane) {
        const std::int64_t i = s * slice_rows + lane;
        std::int64_t from = i < a_.rows ? a_.row_start[i] : 0;
        const std::int64_t end = i < a_.rows ? a_.row_start[i + 1] : 0;
        // What fills a row up refers to an element that the row refers to anyway.
        std::int32_t last = i < a_.rows && from < end ? a_.column[end - 1] : 0;
        for (std::int64_t k = start[s] + lane; k < start[s + 1]; k += slice_rows, ++from) {
          column[k] = from < end ? a_.column[from] : last;
          value[k] = from < end ? stored<V>(a_.value[from]) : V{};
        }
      }
    });
    return {a_.rows, carry(start), carry(column), carry(value)};
  }

  template <class V, class R>
  DiagonalsView<V, R> diagonals() {
    const auto& offsets = facts_.diagonals;
    const std::int64_t stride = slices_of(a_.rows) * slice_rows;
    Array<std::int32_t> offset(offsets.begin(), offsets.end());
    Array<V> value(stride * offsets.size());
    parallel_for(stride, [&](std::int64_t i) {
      std::int64_t k = i < a_.rows ? a_.row_start[i] : 0;
      const std::int64_t end = i < a_.rows ? a_.row_start[i + 1] : 0;
      for (std::size_t d = 0; d < offsets.size(); ++d) {
        const bool is_there = k < end && a_.column[k] - i == offsets[d];
        value[static_cast<std::int64_t>(d) * stride + i] = is_there ? stored<V>(a_.value[k]) : V{};
        if (is_there) ++k;
      }
    });
    return {a_.rows, a_.columns,    static_cast<std::int32_t>(offsets.size()),
            stride,  carry(offset), carry(value)};
  }

  template <class V, class R, int B>
  BlockSellView<V, R, B> block_sell() {
    const std::int64_t nodes = a_.rows / B;
    const std::int64_t slices = slices_of(nodes);
    const Array<std::int64_t> start = slice_starts(a_, B);
    Array<std::int32_t> column(start.back());
    Array<V> value(start.back() * (B * B));
    parallel_for(slices, [&](std::int64_t s) {
      for (std::int64_t lane = 0; lane < slice_rows; ++lane) {
        const std::int64_t node = s * slice_rows + lane;
        const std::int64_t length = node < nodes ? row_length(a_, node * B) / B : 0;
        for (std::int64_t k = start[s], b = 0; k < start[s + 1]; k += slice_rows, ++b) {
          const std::int64_t taken = std::min(b, length - 1);
          column[k + lane] = length > 0 ? a_.column[a_.row_start[node * B] + taken * B] / B : 0;
          for (int c = 0; c < B; ++c)
            for (int r = 0; r < B; ++r)
              value[k * (B * B) + (c * B + r) * slice_rows + lane] =
                  b < length ? stored<V>(a_.value[a_.row_start[node * B + r] + b * B + c]) : V{};
        }
      }
    });
    return {a_.rows, carry(start), carry(column), carry(value)};
  }

  Device& device_;
  const sparse::Csr& a_;
  const FormatFacts& facts_;
  std::vector<DeviceArray<unsigned char>> arrays_;
  std::int64_t bytes_ = 0;
};

Half to_half(float value) {
  const float magnitude = std::min(std::abs(value), largest_half);
  // Below 2^-14 halves are multiples of 2^-24: a sum with 0.5 rounds to these.
  std::uint32_t bits;
  if (magnitude < 0x1p-14F) {
    bits = static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1p24F));
  } else {
    std::memcpy(&bits, &magnitude, sizeof bits);
    bits += 0xfffU + ((bits >> 13) & 1U);  // to nearest, ties to even
    bits = (bits >> 13) - (112U << 10);
    bits = std::min(bits, 0x7bffU);
  }
  return {static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000U : 0U))};
}

FormatFacts examine_format(const sparse::Csr& a) {
  FormatFacts facts;
  facts.rows = a.rows;
  facts.columns = a.columns;
  facts.entries = a.nonzeros();
  for (std::int64_t i = 0; i < a.rows; ++i) facts.longest_row = std::max(facts.longest_row, row_length(a, i));
  facts.sell_entries = slice_starts(a, 1).back();
  for (const int block : {3, 2}) {
    if (!has_blocks(a, block)) continue;
    facts.block = block;
    facts.block_sell_entries = slice_starts(a, block).back() * block * block;
    break;
  }
  facts.diagonals = find_diagonals(a);
  return facts;
}

std::vector<std::string_view> formats() {
  return {csr_name, chunks_name, sell_name, diagonals_name, block_name};
}

bool suits(std::string_view format, const FormatFacts& facts) {
  const double most = most_padding * static_cast<double>(facts.entries) + slice_rows;
  if (format == csr_name) return true;
  if (format == chunks_name) return facts.entries < std::numeric_limits<std::int32_t>::max();
  if (format == sell_name) return static_cast<double>(facts.sell_entries) <= most + slice_rows;
  if (format == diagonals_name)
    return !facts.diagonals.empty() && static_cast<double>(facts.diagonals.size()) * facts.rows <= most;
  if (format == block_name) return facts.block > 1 && static_cast<double>(facts.block_sell_entries) <= most;
  return false;
}

/// Bytes that a product moves of the matrix, and could while the longest row is made.
double cost(std::string_view format, const FormatFacts& facts) {
  if (!suits(format, facts)) return std::numeric_limits<double>::infinity();
  constexpr double value = sizeof(double);
  constexpr double column = sizeof(std::int32_t);
  const double rows = facts.rows;
  const auto with_longest_row = [&](double bytes, int threads) {
    const double of_longest = bytes_per_entry_of_a_thread * static_cast<double>(facts.longest_row) / threads;
    return std::max(bytes, of_longest) + not_hidden * std::min(bytes, of_longest);
  };
  if (format == csr_name)
    return with_longest_row(
        slower_in_groups * (static_cast<double>(facts.entries) * (value + column) + 8 * rows),
        threads_of_a_row(facts));
  if (format == chunks_name)
    return slower_in_chunks * (static_cast<double>(facts.entries) * (value + column) + 4 * rows) +
           bytes_per_entry_of_a_thread * 64;
  if (format == sell_name)
    return with_longest_row(static_cast<double>(facts.sell_entries) * (value + column), 1);
  if (format == diagonals_name)
    return with_longest_row(static_cast<double>(facts.diagonals.size()) * rows * value, 1);
  const double blocks = static_cast<double>(facts.block_sell_entries) / (facts.block * facts.block);
  return with_longest_row(static_cast<double>(facts.block_sell_entries) * value + blocks * column, 1);
}

std::string_view choose_format(const FormatFacts& facts) {
  const auto all = formats();
  return *std::ranges::min_element(all, {}, [&](std::string_view format) { return cost(format, facts); });
}

template <class R>
Matrix<R> make_matrix(Device& device, const sparse::Csr& matrix, std::string_view format,
                      const FormatFacts& facts) {
  if (!suits(format, facts))
    throw InputError(fmt::format("the format {} does not suit a matrix of this pattern", format));
  return MatrixBuilder(device, matrix, facts).make<R, R>(format);
}

template <class R>
Matrix<R> make_matrix(Device& device, const sparse::Csr& matrix) {
  const FormatFacts facts = examine_format(matrix);
  return MatrixBuilder(device, matrix, facts).make<R, R>(choose_format(facts));
}

Matrix<float> make_half_matrix(Device& device, const sparse::Csr& matrix) {
  const FormatFacts facts = examine_format(matrix);
  const bool has_diagonals =
      suits(diagonals_name, facts) && static_cast<double>(facts.diagonals.size()) * facts.rows * 2 <
                                          static_cast<double>(facts.sell_entries) * 6;
  return MatrixBuilder(device, matrix, facts).make<Half, float>(has_diagonals ? diagonals_name : sell_name);
}

template Matrix<double> make_matrix(Device&, const sparse::Csr&, std::string_view, const FormatFacts&);
template Matrix<float> make_matrix(Device&, const sparse::Csr&, std::string_view, const FormatFacts&);
template Matrix<double> make_matrix(Device&, const sparse::Csr&);
template Matrix<float> make_matrix(Device&, const sparse::Csr&);

}  // namespace ayatori::gpu
