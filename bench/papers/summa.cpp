#include "bench/papers/summa.hpp"

#include <algorithm>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/timing.hpp"

namespace ayatori::bench {

namespace {

/// The part of [0, n) cut into `parts` that holds k.
int part_of(std::int64_t k, std::int64_t n, int parts) {
  int part = 0;
  while (!split_evenly(n, parts, part).contains(k)) ++part;
  return part;
}

}  // namespace

MatrixBlock random_block(std::int64_t n, const RankGrid& grid, int rank, std::uint64_t seed) {
  MatrixBlock block{
      split_evenly(n, grid.rows, grid.row_of(rank)), split_evenly(n, grid.columns, grid.column_of(rank)), {}};
  const std::int64_t width = block.columns.size();
  block.values = Array<double>(block.rows.size() * width);
  parallel_for(static_cast<std::int64_t>(block.values.size()), [&](std::int64_t e) {
    const std::int64_t i = block.rows.begin + e / width;
    const std::int64_t j = block.columns.begin + e % width;
    block.values[e] = 2 * random_uniform(seed, i * n + j) - 1;
  });
  return block;
}

Summa::Summa(const comm::Comm& comm, const RankGrid& grid, std::int64_t n, std::int64_t panel,
             const MatmulForm& form)
    : overlap_(form.overlap),
      along_row_(comm, grid.row_of(comm.rank()),
                 split_evenly(n, grid.rows, grid.row_of(comm.rank())).size() * panel, form),
      along_column_(comm, grid.column_of(comm.rank()),
                    split_evenly(n, grid.columns, grid.column_of(comm.rank())).size() * panel, form) {
  for (std::int64_t k = 0; k < n;) {
    const int column = part_of(k, n, grid.columns);
    const int row = part_of(k, n, grid.rows);
    const std::int64_t end =
        std::min({k + panel, split_evenly(n, grid.columns, column).end, split_evenly(n, grid.rows, row).end});
    panels_.push_back({{k, end}, column, row});
    k = end;
  }
}

void Summa::start(std::int64_t turn, const MatrixBlock& a, const MatrixBlock& b) {
  const Panel& panel = panels_[turn];
  const std::int64_t width = panel.k.size();
  const std::int64_t rows = a.rows.size();
  const std::int64_t columns = b.columns.size();
  if (along_row_.rank() == panel.column && !along_row_.alone()) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* from = a.row(a.rows.begin + i) + (panel.k.begin - a.columns.begin);
      std::copy(from, from + width, along_row_.buffer(turn) + i * width);
    }
  }
  along_row_.start(turn, rows * width, panel.column);
  if (along_column_.rank() == panel.row && !along_column_.alone())
    std::copy(b.row(panel.k.begin), b.row(panel.k.end), along_column_.buffer(turn));
  along_column_.start(turn, width * columns, panel.row);
}

LocalProduct Summa::product_of(std::int64_t turn, const MatrixBlock& a, const MatrixBlock& b,
                               MatrixBlock& c) {
  const Panel& panel = panels_[turn];
  // Who shares A's rows or B's columns with nobody needs no copy.
  const bool has_row = along_row_.alone();
  const bool has_column = along_column_.alone();
  return {c.rows.size(),
          c.columns.size(),
          panel.k.size(),
          has_row ? a.values.data() + panel.k.begin : along_row_.buffer(turn),
          has_row ? a.columns.size() : panel.k.size(),
          has_column ? b.row(panel.k.begin) : along_column_.buffer(turn),
          b.columns.size(),
          c.values.data(),
          c.columns.size()};
}

SummaSeconds Summa::multiply(const MatrixBlock& a, const MatrixBlock& b, MatrixBlock& c,
                             const LocalProductType& local) {
  SummaSeconds seconds;
  const ScopedTimer total(seconds.total);
  parallel_for(static_cast<std::int64_t>(c.values.size()), [&](std::int64_t i) { c.values[i] = 0; });
  const auto panels = static_cast<std::int64_t>(panels_.size());
  const auto exchange = [&](auto&& step) {
    const ScopedTimer timer(seconds.exchange);
    step();
  };
  const auto start_panel = [&](std::int64_t turn) {
    if (turn < panels) exchange([&] { start(turn, a, b); });
  };
  start_panel(0);
  for (std::int64_t turn = 0; turn < panels; ++turn) {
    exchange([&] {
      along_row_.finish();
      along_column_.finish();
    });
    if (overlap_) start_panel(turn + 1);
    LocalProduct product = product_of(turn, a, b, c);
    if (along_row_.is_under_way() || along_column_.is_under_way())
      product.progress = [this] { along_row_.progress(); };
    {
      const ScopedTimer timer(seconds.product);
      local.run(product);
    }
    if (!overlap_) start_panel(turn + 1);
  }
  return seconds;
}

}  // namespace ayatori::bench
