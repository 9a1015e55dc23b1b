#include "ayatori/solvers/preconditioners/saddle/blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/layout.hpp"

namespace ayatori::solvers::saddle {

namespace {

constexpr double zero_diagonal = 1e-12;
/// A mass matrix of linear elements in space has 1.5 times its diagonal beside it.
constexpr double most_beside = 4;

/// The rows of a rank with what they have in both parts.
class Rows {
 public:
  explicit Rows(const sparse::SplitMatrix& parts) : parts_(parts), halo_row_(parts.interior.rows, -1) {
    for (std::int32_t r = 0; r < parts.halo.rows; ++r) halo_row_[parts.halo_rows[r]] = r;
  }

  std::int32_t size() const { return parts_.interior.rows; }
  /// f(column, value) of the entries that are not zero; columns from size() on are ghosts.
  template <class F>
  void for_each(std::int32_t i, F&& f) const {
    const auto visit = [&](const sparse::Csr& part, std::int32_t row, std::int32_t shift) {
      for (std::int64_t k = part.row_start[row]; k < part.row_start[row + 1]; ++k)
        if (part.value[k] != 0) f(part.column[k] + shift, part.value[k]);
    };
    visit(parts_.interior, i, 0);
    if (halo_row_[i] >= 0) visit(parts_.halo, halo_row_[i], size());
  }

 private:
  const sparse::SplitMatrix& parts_;
  Array<std::int32_t> halo_row_;
};

/// Sign of each row's diagonal entry: 0 where it is as good as zero.
Array<std::int8_t> diagonal_signs(const Rows& rows, std::int64_t first_row, std::string_view who) {
  Array<std::int8_t> signs(rows.size());
  for (std::int32_t i = 0; i < rows.size(); ++i) {
    double diagonal = 0;
    double largest = 0;
    rows.for_each(i, [&](std::int32_t j, double value) {
      if (!std::isfinite(value))
        throw InputError(
            fmt::format("{}: row {}: an entry of the matrix is not finite", who, first_row + i + 1));
      if (j == i) diagonal = value;
      largest = std::max(largest, std::abs(value));
    });
    const bool is_zero = !(std::abs(diagonal) > zero_diagonal * largest);
    signs[i] = static_cast<std::int8_t>(is_zero ? 0 : diagonal > 0 ? 1 : -1);
  }
  return signs;
}

[[noreturn]] void refuse(std::string_view who, std::string_view why) {
  throw_error(ErrorKind::bad_input, fmt::format("{}: no saddle point: {}", who, why), true);
}

/// A value of each own row, with those of the ghosts behind. Collective.
Array<double> with_ghosts(const sparse::DistributedMatrix& matrix, const Array<double>& own) {
  const sparse::SplitMatrix& parts = matrix.parts();
  const std::int64_t rows = parts.interior.rows;
  auto all = comm::agree(matrix.comm(), [&] {
    Array<double> values(rows + std::ssize(parts.plan.ghosts));
    std::ranges::copy(own, values.begin());
    return values;
  });
  sparse::GhostExchange<double>(matrix.comm(), parts.plan, 1, 0, rows).fetch(all.data());
  return all;
}

/// What is wrong with the rows of the constraints: those that touch no primal unknown, and those whose own
/// block is not of a semidefinite kind.
std::array<std::int64_t, 2> count_misfits(const Rows& rows, const Fields& fields,
                                          const Array<double>& field) {
  std::array<std::int64_t, 2> misfits{};
  for (std::int32_t i = 0; i < rows.size(); ++i) {
    if (fields.is_constraint[i] == 0) continue;
    bool is_coupled = false;
    double diagonal = 0;
    double beside = 0;
    rows.for_each(i, [&](std::int32_t j, double value) {
      if (field[j] == 0) {
        is_coupled = true;
      } else if (j == i) {
        diagonal = std::abs(value);
      } else {
        beside += std::abs(value);
      }
    });
    misfits[0] += is_coupled || diagonal > 0 ? 0 : 1;
    misfits[1] += beside > most_beside * diagonal ? 1 : 0;
  }
  return misfits;
}

/// Rows of one block while they are made.
class RowWriter {
 public:
  RowWriter(const sparse::RowPartition& rows, std::int64_t columns, int rank) {
    block_.global_rows = rows.rows();
    block_.global_columns = columns;
    block_.first_row = rows.range(rank).begin;
    rows_ = rows.range(rank).size();
    block_.row_start.push_back(0);
  }
  void reserve(std::int64_t entries) {
    block_.row_start.reserve(rows_ + 1);
    block_.column.reserve(entries);
    block_.value.reserve(entries);
  }
  void add(std::int64_t column, double value) { row_.emplace_back(column, value); }
  void end_row() {
    std::ranges::sort(row_, {}, &std::pair<std::int64_t, double>::first);
    for (const auto& [column, value] : row_) {
      block_.column.push_back(column);
      block_.value.push_back(value);
    }
    block_.row_start.push_back(block_.nonzeros());
    row_.clear();
  }
  sparse::RowBlock take() { return std::move(block_); }

 private:
  sparse::RowBlock block_;
  std::int64_t rows_ = 0;
  std::vector<std::pair<std::int64_t, double>> row_;
};

}  // namespace

Fields find_fields(const sparse::DistributedMatrix& matrix, std::span<const double> given,
                   std::string_view who) {
  const comm::Comm& comm = matrix.comm();
  const bool is_given = comm.any(!given.empty());
  const Rows rows = comm::agree(comm, [&] { return Rows(matrix.parts()); });
  const auto signs = comm::agree(comm, [&] {
    if (is_given && std::ssize(given) != rows.size())
      throw InputError(
          fmt::format("{}: fields of {} rows, but there are {}", who, given.size(), rows.size()));
    return diagonal_signs(rows, matrix.partition().range(comm.rank()).begin, who);
  });
  const auto may_be_primal = [&](std::size_t i) { return !is_given || given[i] == 0; };
  std::array<std::int64_t, 3> counts{};
  for (std::size_t i = 0; i < signs.size(); ++i) {
    if (!may_be_primal(i)) continue;
    counts[0] += signs[i] > 0 ? 1 : 0;
    counts[1] += signs[i] < 0 ? 1 : 0;
    ++counts[2];
  }
  comm.allreduce(std::span<std::int64_t>(counts), comm::ReduceOp::sum);
  Fields fields;
  fields.sign = counts[0] >= counts[1] ? 1 : -1;
  const std::int64_t primal = is_given ? counts[2] : std::max(counts[0], counts[1]);
  const std::int64_t constraints = matrix.global_rows() - primal;
  if (constraints == 0)
    refuse(who, is_given ? "no row is a constraint" : "every diagonal entry has the same sign");
  if (primal == 0) refuse(who, "every row is a constraint");
  if (!is_given && constraints > primal) refuse(who, "most diagonal entries are zero or of mixed signs");
  Array<double> own = comm::agree(comm, [&] {
    fields.is_constraint.resize(signs.size());
    Array<double> field(signs.size());
    for (std::size_t i = 0; i < signs.size(); ++i) {
      const bool is_primal = may_be_primal(i) && (is_given || signs[i] * fields.sign > 0);
      fields.is_constraint[i] = is_primal ? 0 : 1;
      field[i] = fields.is_constraint[i];
    }
    return field;
  });
  const Array<double> field = with_ghosts(matrix, own);
  auto misfits = count_misfits(rows, fields, field);
  comm.allreduce(std::span<std::int64_t>(misfits), comm::ReduceOp::sum);
  if (misfits[0] > 0) refuse(who, fmt::format("{} constraints are coupled to nothing", misfits[0]));
  if (!is_given && misfits[1] > 0)
    refuse(who, fmt::format("of {} rows without a diagonal of the sign of the others, {} are coupled among "
                            "themselves as no semidefinite block is",
                            constraints, misfits[1]));
  return fields;
}

Blocks split_into_blocks(const sparse::DistributedMatrix& matrix, const Fields& fields) {
  const comm::Comm& comm = matrix.comm();
  const std::int64_t own_constraints = std::ranges::count(fields.is_constraint, 1);
  Blocks blocks{amg::partition_by_sizes(comm, std::ssize(fields.is_constraint) - own_constraints),
                amg::partition_by_sizes(comm, own_constraints),
                {},
                {},
                {},
                {},
                {},
                {}};
  // The number of a row in its field, from 1, negative for constraints.
  const Array<double> own = comm::agree(comm, [&] {
    Array<double> number(fields.is_constraint.size());
    std::int64_t primal = blocks.primal.range(comm.rank()).begin;
    std::int64_t constraint = blocks.constraint.range(comm.rank()).begin;
    for (std::size_t i = 0; i < number.size(); ++i) {
      const bool is_constraint = fields.is_constraint[i] != 0;
      number[i] = static_cast<double>(is_constraint ? -++constraint : ++primal);
      (is_constraint ? blocks.constraint_rows : blocks.primal_rows).push_back(static_cast<std::int32_t>(i));
    }
    return number;
  });
  const Array<double> number = with_ghosts(matrix, own);
  comm::agree(comm, [&] {
    const Rows rows(matrix.parts());
    RowWriter a(blocks.primal, blocks.primal.rows(), comm.rank());
    RowWriter b1(blocks.primal, blocks.constraint.rows(), comm.rank());
    RowWriter b2(blocks.constraint, blocks.primal.rows(), comm.rank());
    RowWriter e(blocks.constraint, blocks.constraint.rows(), comm.rank());
    std::array<std::int64_t, 4> entries{};
    for (std::int32_t i = 0; i < rows.size(); ++i)
      rows.for_each(i, [&](std::int32_t j, double) {
        ++entries[2 * fields.is_constraint[i] + (number[j] < 0 ? 1 : 0)];
      });
    for (int k = 0; RowWriter * writer : {&a, &b1, &b2, &e}) writer->reserve(entries[k++]);
    for (std::int32_t i = 0; i < rows.size(); ++i) {
      const bool is_constraint = fields.is_constraint[i] != 0;
      RowWriter& to_primal = is_constraint ? b2 : a;
      RowWriter& to_constraint = is_constraint ? e : b1;
      rows.for_each(i, [&](std::int32_t j, double value) {
        const auto column = static_cast<std::int64_t>(std::abs(number[j])) - 1;
        (number[j] < 0 ? to_constraint : to_primal).add(column, fields.sign * value);
      });
      to_primal.end_row();
      to_constraint.end_row();
    }
    blocks.a = a.take();
    blocks.b1 = b1.take();
    blocks.b2 = b2.take();
    blocks.e = e.take();
  });
  return blocks;
}

}  // namespace ayatori::solvers::saddle
