#include "ayatori/eigen/projected.hpp"

#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::eigen {

SmallPairs pairs_of(const comm::Comm& comm, Small a) {
  SmallPairs pairs{std::vector<double>(a.rows), std::move(a)};
  comm::agree(comm, [&] {
    if (comm.rank() == 0 && !symmetric_pairs(pairs.vectors, pairs.values.data()))
      throw EnvironmentError("LAPACK finds no eigenvalues of a projected matrix");
  });
  comm.broadcast(std::span<double>(pairs.values), 0);
  comm.broadcast(std::span<double>(pairs.vectors.values), 0);
  return pairs;
}

void replace(Columns& x, std::int64_t begin, const Small& change) {
  constexpr std::int64_t strip = 512;  // rows whose old values are kept aside
  const std::int64_t count = change.rows;
  Array<double> scratch(strip * std::max<std::int64_t>(count, 1));
  for (std::int64_t row = 0; row < x.rows; row += strip) {
    const std::int64_t height = std::min(strip, x.rows - row);
    for (std::int64_t j = 0; j < count; ++j)
      std::copy_n(x.values.data() + (begin + j) * x.rows + row, height, scratch.data() + j * strip);
    multiply(1, Op::none, {scratch.data(), height, count, strip}, Op::none, change, 0,
             {x.values.data() + begin * x.rows + row, height, change.columns, x.rows});
  }
}

}  // namespace ayatori::eigen
