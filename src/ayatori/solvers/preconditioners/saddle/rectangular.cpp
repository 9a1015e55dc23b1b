#include "ayatori/solvers/preconditioners/saddle/rectangular.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/layout.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers::saddle {

namespace {

std::unique_ptr<const sparse::HaloPlan> plan_for(const comm::Comm& comm, const sparse::RowBlock& rows,
                                                 const sparse::RowPartition& columns) {
  auto ghosts = comm::agree(comm, [&] { return sparse::ghosts_of(rows, columns.range(comm.rank())); });
  auto plan = sparse::make_halo_plan(comm, columns, std::move(ghosts));
  return comm::agree(comm, [&] { return std::make_unique<const sparse::HaloPlan>(std::move(plan)); });
}

/// The rows with local columns, those of this rank first.
sparse::Csr localized(const sparse::RowBlock& rows, Range mine, const std::vector<std::int64_t>& ghosts) {
  const auto own = static_cast<std::int32_t>(mine.size());
  sparse::Csr local{static_cast<std::int32_t>(rows.rows()), own + static_cast<std::int32_t>(ghosts.size()),
                    rows.row_start, Array<std::int32_t>(rows.column.size()),
                    Array<double>(rows.value.size())};
  parallel_for(rows.rows(), [&](std::int64_t i) {
    std::int64_t next = rows.row_start[i];
    const auto take = [&](bool owned) {
      for (std::int64_t k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k) {
        const std::int64_t column = rows.column[k];
        if (mine.contains(column) != owned) continue;
        local.column[next] = static_cast<std::int32_t>(
            owned ? column - mine.begin : own + (std::ranges::lower_bound(ghosts, column) - ghosts.begin()));
        local.value[next++] = rows.value[k];
      }
    };
    take(true);
    take(false);
  });
  return local;
}

/// A term of the sum that an entry of a product is.
struct Term {
  std::int64_t column;
  double value;
};

/// Appends the sums of a row's terms, of equal columns, that are more than rounding.
void append_sums(std::vector<Term>& terms, sparse::RowBlock& to) {
  constexpr double rounding = 1e-14;
  std::ranges::stable_sort(terms, {}, &Term::column);
  for (std::size_t k = 0; k < terms.size();) {
    const std::int64_t column = terms[k].column;
    double sum = 0;
    double sum_abs = 0;
    for (; k < terms.size() && terms[k].column == column; ++k) {
      sum += terms[k].value;
      sum_abs += std::abs(terms[k].value);
    }
    if (!(std::abs(sum) > rounding * sum_abs)) continue;
    to.column.push_back(column);
    to.value.push_back(sum);
  }
  to.row_start.push_back(to.nonzeros());
  terms.clear();
}

}  // namespace

Rectangular::Rectangular(const comm::Comm& comm, const sparse::RowBlock& rows,
                         const sparse::RowPartition& columns)
    : comm_(comm), plan_(plan_for(comm, rows, columns)), exchange_(comm_, *plan_, 1, 0, plan_->local_size) {
  comm::agree(comm_, [&] {
    local_ = localized(rows, columns.range(comm.rank()), plan_->ghosts);
    x_.assign(local_.columns, 0.0);
  });
}

void Rectangular::apply(std::span<const double> x, std::span<double> y) const {
  parallel_for(std::ssize(x), [&](std::int64_t i) { x_[i] = x[i]; });
  exchange_.fetch(x_.data());
  sparse::multiply_reference(local_, x_, y);
}

sparse::RowBlock Rectangular::multiply(std::span<const double> middle, const sparse::RowBlock& right,
                                       const sparse::RowBlock& added) const {
  const auto outgoing = comm::agree(comm_, [&] {
    amg::TravellingRows rows;
    rows.start.push_back(0);
    for (const std::int32_t i : plan_->send_index) {
      for (std::int64_t k = right.row_start[i]; k < right.row_start[i + 1]; ++k) {
        rows.column.push_back(right.column[k]);
        rows.value.push_back(middle[i] * right.value[k]);
      }
      rows.start.push_back(std::ssize(rows.column));
    }
    return rows;
  });
  const amg::TravellingRows ghosts =
      amg::exchange_rows(comm_, plan_->send_to, outgoing, plan_->receive_from, std::ssize(plan_->ghosts), 1);
  return comm::agree(comm_, [&] {
    sparse::RowBlock product{added.global_rows, added.global_columns, added.first_row, {0}, {}, {}};
    // About as many in a row of the product as in one of the factor; room that is not used is never touched.
    product.row_start.reserve(local_.rows + std::int64_t{1});
    product.column.reserve(2 * local_.nonzeros() + added.nonzeros());
    product.value.reserve(2 * local_.nonzeros() + added.nonzeros());
    std::vector<Term> terms;
    for (std::int32_t i = 0; i < local_.rows; ++i) {
      for (std::int64_t k = added.row_start[i]; k < added.row_start[i + 1]; ++k)
        terms.push_back({added.column[k], added.value[k]});
      for (std::int64_t k = local_.row_start[i]; k < local_.row_start[i + 1]; ++k) {
        const std::int32_t m = local_.column[k];
        const double factor = local_.value[k];
        if (m < plan_->local_size) {
          for (std::int64_t l = right.row_start[m]; l < right.row_start[m + 1]; ++l)
            terms.push_back({right.column[l], factor * middle[m] * right.value[l]});
        } else {
          const std::int32_t g = m - plan_->local_size;
          for (std::int64_t l = ghosts.start[g]; l < ghosts.start[g + 1]; ++l)
            terms.push_back({ghosts.column[l], factor * ghosts.value[l]});
        }
      }
      append_sums(terms, product);
    }
    return product;
  });
}

}  // namespace ayatori::solvers::saddle
