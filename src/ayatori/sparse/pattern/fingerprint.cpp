#include "ayatori/sparse/pattern/fingerprint.hpp"

#include <array>
#include <atomic>
#include <bit>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::uint64_t places = 2;
constexpr std::uint64_t entries = 3;

std::uint64_t hash(std::uint64_t place, double value) {
  return random_bits(entries, place ^ random_bits(entries, std::bit_cast<std::uint64_t>(value)));
}

}  // namespace

Fingerprint fingerprint(const comm::Comm& comm, const RowBlock& block) {
  std::atomic<std::uint64_t> pattern = 0;
  std::atomic<std::uint64_t> values = 0;
  parallel_ranges(block.rows(), [&](Range range) {
    std::uint64_t of_pattern = 0;
    std::uint64_t of_values = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::uint64_t row = random_bits(places, static_cast<std::uint64_t>(block.first_row + i));
      for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
        const std::uint64_t place = random_bits(row, static_cast<std::uint64_t>(block.column[k]));
        of_pattern += place;
        of_values += hash(place, block.value[k]);
      }
    }
    pattern += of_pattern;
    values += of_values;
  });
  std::array<std::uint64_t, 2> sums{pattern, values};
  comm.allreduce(std::span<std::uint64_t>(sums), comm::ReduceOp::sum);
  const auto size = static_cast<std::uint64_t>(block.global_rows);
  return {random_bits(size, sums[0]), random_bits(size, sums[1])};
}

std::uint64_t fingerprint(const comm::Comm& comm, std::span<const double> local, std::int64_t first) {
  std::atomic<std::uint64_t> all = 0;
  parallel_ranges(static_cast<std::int64_t>(local.size()), [&](Range range) {
    std::uint64_t sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i)
      sum += hash(random_bits(places, static_cast<std::uint64_t>(first + i)), local[i]);
    all += sum;
  });
  return comm.allreduce(all.load(), comm::ReduceOp::sum);
}

}  // namespace ayatori::sparse
