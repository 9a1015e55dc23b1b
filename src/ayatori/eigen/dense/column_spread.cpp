#include "ayatori/eigen/dense/column_spread.hpp"

#include <algorithm>

namespace ayatori::eigen {

namespace {

constexpr std::int64_t panel_columns = 64;

}  // namespace

void for_panels(const comm::Comm& comm, const ColumnSpread& z,
                const std::function<void(int source, std::int64_t first, ConstBlock panel)>& visit) {
  const Range mine = z.mine(comm);
  Array<double> panel;
  for (int source = 0; source < comm.size(); ++source) {
    const Range theirs = split_evenly(z.count, comm.size(), source);
    for (std::int64_t first = theirs.begin; first < theirs.end; first += panel_columns) {
      const std::int64_t width = std::min(panel_columns, theirs.end - first);
      panel.resize(z.n * width);
      if (source == comm.rank())
        std::copy_n(z.values.data() + (first - mine.begin) * z.n, panel.size(), panel.data());
      comm.broadcast(std::span<double>(panel), source);
      visit(source, first, {panel.data(), z.n, width, z.n});
    }
  }
}

void add_product(double alpha, const DistributedDense& a, const ColumnSpread& z, Array<double>& y) {
  const std::int64_t mine = z.mine(a.grid.all).size();
  for (std::int64_t begin = 0; begin < z.n; begin += panel_columns) {
    const Range wanted{begin, std::min(begin + panel_columns, z.n)};
    const Array<double> panel = gather_columns(a, wanted, 0);
    multiply(alpha, Op::none, {panel.data(), z.n, wanted.size(), z.n}, Op::none,
             {z.values.data() + begin, wanted.size(), mine, z.n}, 1, {y.data(), z.n, mine, z.n});
  }
}

}  // namespace ayatori::eigen
