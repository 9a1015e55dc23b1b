#include "bench/summa.hpp"

#include <algorithm>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::bench {

namespace {

constexpr int panel_tag = 1;

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

Summa::Summa(const comm::Comm& comm, const RankGrid& grid, std::int64_t n, std::int64_t panel, bool overlap)
    : along_row_(comm.split(grid.row_of(comm.rank()), comm.rank())),
      along_column_(comm.split(grid.column_of(comm.rank()), comm.rank())),
      overlap_(overlap) {
  comm::agree(comm, [&] {
    for (std::int64_t k = 0; k < n;) {
      const int column = part_of(k, n, grid.columns);
      const int row = part_of(k, n, grid.rows);
      const std::int64_t end = std::min(
          {k + panel, split_evenly(n, grid.columns, column).end, split_evenly(n, grid.rows, row).end});
      panels_.push_back({{k, end}, column, row});
      k = end;
    }
    const std::int64_t rows = split_evenly(n, grid.rows, grid.row_of(comm.rank())).size();
    const std::int64_t columns = split_evenly(n, grid.columns, grid.column_of(comm.rank())).size();
    for (Buffers& buffers : buffers_) {
      if (grid.columns > 1) buffers.a.resize(rows * panel);
      if (grid.rows > 1) buffers.b.resize(columns * panel);
    }
  });
}

void Summa::send(const comm::Comm& comm, std::span<double> values, int root, Buffers& buffers) const {
  if (comm.size() == 1) return;
  if (!overlap_) return comm.broadcast(values, root);
  if (comm.rank() != root) {
    buffers.requests.push_back(comm.irecv(values, root, panel_tag));
    return;
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank != root)
      buffers.requests.push_back(comm.isend(std::span<const double>(values), rank, panel_tag));
  }
}

void Summa::start(const Panel& panel, const MatrixBlock& a, const MatrixBlock& b, Buffers& buffers) const {
  const std::int64_t width = panel.k.size();
  const std::int64_t rows = a.rows.size();
  const std::int64_t columns = b.columns.size();
  if (along_row_.size() == 1) {  // who shares A's rows with nobody needs no copy
    buffers.parts.a = a.values.data() + panel.k.begin;
    buffers.parts.a_row = a.columns.size();
  } else {
    if (along_row_.rank() == panel.column) {
      for (std::int64_t i = 0; i < rows; ++i) {
        const double* from = a.values.data() + i * a.columns.size() + (panel.k.begin - a.columns.begin);
        std::copy(from, from + width, buffers.a.data() + i * width);
      }
    }
    buffers.parts.a = buffers.a.data();
    buffers.parts.a_row = width;
    send(along_row_, std::span(buffers.a.data(), rows * width), panel.column, buffers);
  }
  buffers.parts.b_row = columns;
  if (along_column_.size() == 1) {
    buffers.parts.b = b.row(panel.k.begin);
    return;
  }
  if (along_column_.rank() == panel.row)
    std::copy(b.row(panel.k.begin), b.row(panel.k.end), buffers.b.data());
  buffers.parts.b = buffers.b.data();
  send(along_column_, std::span(buffers.b.data(), width * columns), panel.row, buffers);
}

void Summa::progress() {
  along_row_.poke();
}

SummaSeconds Summa::multiply(const MatrixBlock& a, const MatrixBlock& b, MatrixBlock& c,
                             const LocalProductType& local) {
  SummaSeconds seconds;
  const ScopedTimer total(seconds.total);
  parallel_for(static_cast<std::int64_t>(c.values.size()), [&](std::int64_t i) { c.values[i] = 0; });
  const auto exchange = [&](auto&& step) {
    const ScopedTimer timer(seconds.exchange);
    step();
  };
  const auto start_panel = [&](std::size_t p) {
    if (p < panels_.size()) exchange([&] { start(panels_[p], a, b, buffers_[p % 2]); });
  };
  start_panel(0);
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    Buffers& buffers = buffers_[p % 2];
    exchange([&] {
      comm::wait_all(buffers.requests);
      buffers.requests.clear();
    });
    if (overlap_) start_panel(p + 1);
    LocalProduct product{c.rows.size(),       c.columns.size(),    panels_[p].k.size(),
                         buffers.parts.a,     buffers.parts.a_row, buffers.parts.b,
                         buffers.parts.b_row, c.values.data(),     c.columns.size()};
    if (!buffers_[(p + 1) % 2].requests.empty()) product.progress = [this] { progress(); };
    {
      const ScopedTimer timer(seconds.product);
      local.run(product);
    }
    if (!overlap_) start_panel(p + 1);
  }
  return seconds;
}

}  // namespace ayatori::bench
