#include "ayatori/solvers/preconditioners/extended_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"

namespace ayatori::solvers {

namespace {

using sparse::Csr;

/// Rows with global columns, ascending.
struct GlobalRows {
  std::vector<std::int64_t> number;       ///< number of each row
  std::vector<std::int64_t> start = {0};  ///< start of each row's entries
  std::vector<std::int64_t> column;
  std::vector<double> value;
};

/// What a rank that owns rows can say about them.
class OwnedRows {
 public:
  explicit OwnedRows(const sparse::SplitMatrix& parts) : parts_(parts), halo_row_(parts.interior.rows, -1) {
    for (std::size_t r = 0; r < parts.halo_rows.size(); ++r)
      halo_row_[parts.halo_rows[r]] = static_cast<std::int32_t>(r);
  }

  std::int64_t entries(std::int32_t i) const {
    const std::int32_t r = halo_row_[i];
    const std::int64_t in_halo = r < 0 ? 0 : parts_.halo.row_start[r + 1] - parts_.halo.row_start[r];
    return parts_.interior.row_start[i + 1] - parts_.interior.row_start[i] + in_halo;
  }
  /// f(global column, value), first of the columns of this rank.
  template <class F>
  void for_each(std::int32_t i, std::int64_t first_row, F&& f) const {
    const Csr& interior = parts_.interior;
    for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k)
      f(first_row + interior.column[k], interior.value[k]);
    const std::int32_t r = halo_row_[i];
    if (r < 0) return;
    for (std::int64_t k = parts_.halo.row_start[r]; k < parts_.halo.row_start[r + 1]; ++k)
      f(parts_.plan.ghosts[parts_.halo.column[k]], parts_.halo.value[k]);
  }

 private:
  const sparse::SplitMatrix& parts_;
  Array<std::int32_t> halo_row_;  ///< halo row of each row; -1: none
};

/// Collective. Rows that other ranks own, by ascending number.
GlobalRows fetch_rows(const sparse::DistributedMatrix& matrix, const OwnedRows& own,
                      std::vector<std::int64_t> numbers) {
  const comm::Comm& comm = matrix.comm();
  const std::int64_t first_row = matrix.partition().range(comm.rank()).begin;
  const auto plan = make_halo_plan(comm, matrix.partition(), std::move(numbers));
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  std::vector<std::int64_t> row_offsets(comm.size() + 1, 0);
  std::vector<std::int64_t> entry_offsets(comm.size() + 1, 0);
  comm::agree(comm, [&] {
    for (const auto& receiver : plan.send_to) {
      for (std::int64_t s = receiver.begin; s < receiver.end; ++s) {
        const std::int32_t i = plan.send_index[s];
        lengths.push_back(own.entries(i));
        entry_offsets[receiver.rank + 1] += own.entries(i);
        own.for_each(i, first_row, [&](std::int64_t column, double value) {
          columns.push_back(column);
          values.push_back(value);
        });
      }
      row_offsets[receiver.rank + 1] = receiver.end - receiver.begin;
    }
  });
  std::partial_sum(row_offsets.begin(), row_offsets.end(), row_offsets.begin());
  std::partial_sum(entry_offsets.begin(), entry_offsets.end(), entry_offsets.begin());
  const auto got_lengths = comm::sparse_alltoallv(comm, std::span<const std::int64_t>(lengths), row_offsets);
  auto got_columns = comm::sparse_alltoallv(comm, std::span<const std::int64_t>(columns), entry_offsets);
  auto got_values = comm::sparse_alltoallv(comm, std::span<const double>(values), entry_offsets);
  return comm::agree(comm, [&] {
    GlobalRows rows{plan.ghosts, {0}, std::move(got_columns.values), std::move(got_values.values)};
    for (const std::int64_t length : got_lengths.values) rows.start.push_back(rows.start.back() + length);
    return rows;
  });
}

void append(GlobalRows& to, const GlobalRows& from) {
  to.number.insert(to.number.end(), from.number.begin(), from.number.end());
  for (std::size_t r = 1; r < from.start.size(); ++r)
    to.start.push_back(to.start.back() + from.start[r] - from.start[r - 1]);
  to.column.insert(to.column.end(), from.column.begin(), from.column.end());
  to.value.insert(to.value.end(), from.value.begin(), from.value.end());
}

/// The columns of `rows` that lead to rows which are neither `mine` nor among `known` (ascending).
std::vector<std::int64_t> leads_to(const GlobalRows& rows, Range mine,
                                   const std::vector<std::int64_t>& known) {
  std::vector<std::int64_t> fresh;
  for (const std::int64_t column : rows.column)
    if (!mine.contains(column) && !std::ranges::binary_search(known, column)) fresh.push_back(column);
  std::ranges::sort(fresh);
  const auto repeated = std::ranges::unique(fresh);
  fresh.erase(repeated.begin(), repeated.end());
  return fresh;
}

/// Collective. The rows of `layers` layers around this rank's, in the order in which they were reached; their
/// numbers, ascending, come in `ghosts`.
GlobalRows fetch_layers(const sparse::DistributedMatrix& matrix, const OwnedRows& own, int layers,
                        std::vector<std::int64_t>& ghosts) {
  const comm::Comm& comm = matrix.comm();
  const Range mine = matrix.partition().range(comm.rank());
  GlobalRows all;
  auto next = matrix.parts().plan.ghosts;
  for (int layer = 0; layer < layers; ++layer) {
    const GlobalRows fresh = fetch_rows(matrix, own, next);
    next = comm::agree(comm, [&] {
      append(all, fresh);
      const auto middle = static_cast<std::ptrdiff_t>(ghosts.size());
      ghosts.insert(ghosts.end(), fresh.number.begin(), fresh.number.end());
      std::inplace_merge(ghosts.begin(), ghosts.begin() + middle, ghosts.end());
      return leads_to(fresh, mine, ghosts);
    });
  }
  return all;
}

/// Local rows: first those of this rank, then those of `fetched`, by ascending number.
Csr assemble_extended(const sparse::SplitMatrix& parts, const OwnedRows& own, Range mine,
                      const GlobalRows& fetched, const std::vector<std::int64_t>& ghosts) {
  const std::int64_t size = mine.size() + static_cast<std::int64_t>(ghosts.size());
  if (size > std::numeric_limits<std::int32_t>::max())
    throw EnvironmentError("one rank would hold more than 2^31 - 1 rows with its overlap: use more ranks");
  Csr result{
      static_cast<std::int32_t>(size), static_cast<std::int32_t>(size), Array<std::int64_t>{0}, {}, {}};
  std::vector<std::pair<std::int32_t, double>> row;
  const auto add = [&](std::int64_t column, double value) {
    if (mine.contains(column)) {
      row.emplace_back(static_cast<std::int32_t>(column - mine.begin), value);
      return;
    }
    const auto ghost = std::ranges::lower_bound(ghosts, column);
    if (ghost != ghosts.end() && *ghost == column)
      row.emplace_back(static_cast<std::int32_t>(mine.size() + (ghost - ghosts.begin())), value);
  };
  const auto finish_row = [&] {
    std::ranges::sort(row, {}, &std::pair<std::int32_t, double>::first);
    for (const auto& [column, value] : row) {
      result.column.push_back(column);
      result.value.push_back(value);
    }
    result.row_start.push_back(result.nonzeros());
    row.clear();
  };
  for (std::int32_t i = 0; i < parts.interior.rows; ++i) {
    own.for_each(i, mine.begin, add);
    finish_row();
  }
  std::vector<std::size_t> by_number(fetched.number.size());
  std::iota(by_number.begin(), by_number.end(), 0);
  std::ranges::sort(by_number, {}, [&](std::size_t r) { return fetched.number[r]; });
  for (const std::size_t r : by_number) {
    for (std::int64_t k = fetched.start[r]; k < fetched.start[r + 1]; ++k)
      add(fetched.column[k], fetched.value[k]);
    finish_row();
  }
  return result;
}

}  // namespace

ExtendedRows::ExtendedRows(const sparse::DistributedMatrix& matrix, int layers)
    : owned_(matrix.local_size()), first_row_(matrix.partition().range(matrix.comm().rank()).begin) {
  const comm::Comm& comm = matrix.comm();
  const sparse::SplitMatrix& parts = matrix.parts();
  const OwnedRows own = comm::agree(comm, [&] { return OwnedRows(parts); });
  std::vector<std::int64_t> ghosts;
  const GlobalRows fetched = fetch_layers(matrix, own, layers, ghosts);
  matrix_ = comm::agree(comm, [&] {
    return assemble_extended(parts, own, matrix.partition().range(comm.rank()), fetched, ghosts);
  });
  auto plan = make_halo_plan(comm, matrix.partition(), std::move(ghosts));
  plan_ = comm::agree(comm, [&] { return std::make_unique<const sparse::HaloPlan>(std::move(plan)); });
  exchange_ = sparse::halo_strategy("p2p-irecv-first").type->make(comm, matrix.partition(), *plan_);
  back_.emplace(comm, plan_->receive_from, plan_->send_to);
  comm::agree(comm, [&] { arrived_.resize(plan_->send_index.size()); });
}

void ExtendedRows::fetch(std::span<const double> x, std::span<double> extended) const {
  exchange_->begin(x);
  std::ranges::copy(x, extended.begin());
  std::ranges::copy(exchange_->finish(), extended.begin() + owned_);
}

void ExtendedRows::add_to_owners(std::span<double> extended) const {
  auto request = back_->start(std::span<const double>(extended.subspan(owned_)), std::span(arrived_));
  request.wait();
  for (std::size_t k = 0; k < arrived_.size(); ++k) extended[plan_->send_index[k]] += arrived_[k];
}

Csr submatrix(const Csr& matrix, std::span<const std::int32_t> rows) {
  constexpr std::int32_t absent = -1;
  Array<std::int32_t> position(matrix.rows, absent);
  const auto n = static_cast<std::int32_t>(rows.size());
  std::int64_t most = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    position[rows[i]] = i;
    most += matrix.row_start[rows[i] + 1] - matrix.row_start[rows[i]];
  }
  const bool in_order = std::ranges::is_sorted(rows);
  Csr result{n, n, Array<std::int64_t>(n + 1), Array<std::int32_t>(most), Array<double>(most)};
  std::vector<std::pair<std::int32_t, double>> row;
  std::int64_t end = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    result.row_start[i] = end;
    row.clear();
    for (std::int64_t k = matrix.row_start[rows[i]]; k < matrix.row_start[rows[i] + 1]; ++k)
      if (position[matrix.column[k]] != absent) row.emplace_back(position[matrix.column[k]], matrix.value[k]);
    if (!in_order) std::ranges::sort(row, {}, &std::pair<std::int32_t, double>::first);
    for (const auto& [column, value] : row) {
      result.column[end] = column;
      result.value[end++] = value;
    }
  }
  result.row_start[n] = end;
  result.column.resize(end);
  result.value.resize(end);
  return result;
}

}  // namespace ayatori::solvers
