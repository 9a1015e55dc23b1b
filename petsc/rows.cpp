#include "petsc/rows.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/problem/rows_in_memory.hpp"

namespace ayatori::petsc {

namespace {

/// The arrays of a sequential AIJ matrix, given back at the end.
class LocalRows {
 public:
  LocalRows() = default;
  LocalRows(const LocalRows&) = delete;
  LocalRows& operator=(const LocalRows&) = delete;
  ~LocalRows() {
    if (matrix_ == nullptr) return;
    static_cast<void>(
        MatRestoreRowIJ(matrix_, 0, PETSC_FALSE, PETSC_FALSE, &rows, &start, &column, &is_there_));
    static_cast<void>(MatSeqAIJRestoreArrayRead(matrix_, &value));
  }

  PetscErrorCode open(Mat matrix) {
    PetscCall(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &rows, &start, &column, &is_there_));
    PetscCheck(is_there_, PETSC_COMM_SELF, PETSC_ERR_SUP, "Ayatori: the rows of this matrix cannot be had");
    PetscCall(MatSeqAIJGetArrayRead(matrix, &value));
    matrix_ = matrix;
    return success;
  }

  PetscInt rows = 0;
  const PetscInt* start = nullptr;
  const PetscInt* column = nullptr;
  const PetscScalar* value = nullptr;

 private:
  Mat matrix_ = nullptr;
  PetscBool is_there_ = PETSC_FALSE;
};

/// Row i of both parts in the order of global columns: of the other part what comes before own columns,
/// own columns, and what comes after them.
struct Merged {
  bool ascends = true;
  bool finite = true;
};
Merged merge_row(const LocalRows& own, const LocalRows& other, const PetscInt* garray, PetscInt first_column,
                 PetscInt i, sparse::RowBlock& block) {
  std::int64_t at = block.row_start[i];
  std::int64_t last = -1;
  bool ascends = true;
  double nothing = 0;  // unless some value is not finite
  const auto put = [&](std::int64_t column, double value) {
    ascends = ascends && column > last;
    nothing += 0 * value;
    block.column[at] = last = column;
    block.value[at++] = value;
  };
  PetscInt k = garray != nullptr ? other.start[i] : 0;
  const PetscInt end = garray != nullptr ? other.start[i + 1] : 0;
  for (; k < end && garray[other.column[k]] < first_column; ++k) put(garray[other.column[k]], other.value[k]);
  for (PetscInt o = own.start[i]; o < own.start[i + 1]; ++o)
    put(std::int64_t{own.column[o]} + first_column, own.value[o]);
  for (; k < end; ++k) put(garray[other.column[k]], other.value[k]);
  return {ascends, nothing == 0};
}

/// The parts of a matrix of type AIJ: own columns, and the others with their numbers. nullptr where there are
/// none.
PetscErrorCode open_parts(Mat matrix, LocalRows& own, LocalRows& other, PetscInt& others,
                          const PetscInt*& number) {
  PetscBool is_sequential = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &is_sequential));
  others = 0;
  number = nullptr;
  if (is_sequential) return own.open(matrix);
  Mat own_part = nullptr;
  Mat other_part = nullptr;
  PetscCall(MatMPIAIJGetSeqAIJ(matrix, &own_part, &other_part, &number));
  PetscCall(MatGetLocalSize(other_part, nullptr, &others));
  PetscCall(own.open(own_part));
  return other.open(other_part);
}

/// Copies the rows of a matrix of type AIJ.
PetscErrorCode copy_aij(const comm::Comm& comm, Mat matrix, sparse::RowBlock& block, bool& finite) {
  LocalRows own;
  LocalRows other;
  PetscInt others = 0;
  const PetscInt* garray = nullptr;
  PetscCall(open_parts(matrix, own, other, others, garray));
  PetscInt first_row = 0;
  PetscInt first_column = 0;
  PetscInt global = 0;
  PetscCall(MatGetOwnershipRange(matrix, &first_row, nullptr));
  PetscCall(MatGetOwnershipRangeColumn(matrix, &first_column, nullptr));
  PetscCall(MatGetSize(matrix, &global, nullptr));
  block.first_row = first_row;
  block.global_rows = block.global_columns = global;
  const auto mine = comm::agree(comm, [&] {
    const PetscInt n = own.rows;
    block.row_start.resize(n + 1);
    block.row_start[0] = 0;
    for (PetscInt i = 0; i < n; ++i)
      block.row_start[i + 1] = block.row_start[i] + (own.start[i + 1] - own.start[i]) +
                               (garray != nullptr ? other.start[i + 1] - other.start[i] : 0);
    block.column.resize(block.row_start[n]);
    block.value.resize(block.row_start[n]);
    std::atomic<bool> all_ascend = true;
    std::atomic<bool> all_finite = true;
    parallel_for(n, [&](std::int64_t i) {
      const auto merged = merge_row(own, other, garray, first_column, static_cast<PetscInt>(i), block);
      if (!merged.ascends) all_ascend = false;
      if (!merged.finite) all_finite = false;
    });
    return Merged{all_ascend.load(), all_finite.load()};
  });
  finite = !comm.any(!mine.finite);
  if (finite && comm.any(!mine.ascends))
    block = session::rows_in_memory<std::int64_t>(comm, block.row_start, block.column, block.value, global);
  return success;
}

/// Rows of a part of a matrix of type AIJ, copied.
struct CopiedRows {
  sparse::Csr rows;
  bool ascend = true;  ///< the columns of each row
  bool finite = true;  ///< all entries
};

/// Those rows of a part that `row` names by number, `count` of them.
template <class Row>
CopiedRows copy_rows(const LocalRows& part, PetscInt count, PetscInt columns, Row&& row) {
  sparse::Csr copy{count, columns, Array<std::int64_t>(std::size_t(count) + 1), {}, {}};
  copy.row_start[0] = 0;
  for (PetscInt i = 0; i < count; ++i)
    copy.row_start[i + 1] = copy.row_start[i] + (part.start[row(i) + 1] - part.start[row(i)]);
  copy.column.resize(copy.row_start[count]);
  copy.value.resize(copy.row_start[count]);
  std::atomic<bool> all_ascend = true;
  std::atomic<bool> all_finite = true;
  parallel_ranges(count, [&](Range range) {
    bool ascend = true;
    double nothing = 0;  // unless some value is not finite
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const PetscInt from = part.start[row(static_cast<PetscInt>(i))];
      const std::int64_t to = copy.row_start[i];
      for (std::int64_t k = 0; k < copy.row_start[i + 1] - to; ++k) {
        copy.column[to + k] = part.column[from + k];
        copy.value[to + k] = part.value[from + k];
        nothing += 0 * part.value[from + k];
        ascend = ascend && (k == 0 || part.column[from + k] > part.column[from + k - 1]);
      }
    }
    if (!ascend) all_ascend = false;
    if (nothing != 0) all_finite = false;  // a NaN is not 0 either
  });
  return {std::move(copy), all_ascend, all_finite};
}

/// Splits a matrix of type AIJ, which keeps own and other columns apart as we do. `fits`: columns ascend.
PetscErrorCode split_aij(const comm::Comm& comm, Mat matrix, sparse::SplitMatrix& parts, bool& fits,
                         bool& finite) {
  LocalRows own;
  LocalRows other;
  PetscInt others = 0;
  const PetscInt* number = nullptr;
  PetscCall(open_parts(matrix, own, other, others, number));
  const PetscInt* starts = nullptr;
  PetscCall(MatGetOwnershipRanges(matrix, &starts));
  CopiedRows interior;
  CopiedRows halo;
  Array<std::int32_t> halo_rows;
  std::vector<std::int64_t> ghosts(number, number + others);
  comm::agree(comm, [&] {
    interior = copy_rows(own, own.rows, own.rows, [](PetscInt i) { return i; });
    for (PetscInt i = 0; i < own.rows && others > 0; ++i)
      if (other.start[i] < other.start[i + 1]) halo_rows.push_back(i);
    halo = copy_rows(other, static_cast<PetscInt>(halo_rows.size()), others,
                     [&](PetscInt i) { return halo_rows[i]; });
  });
  const bool ghosts_ascend = std::ranges::adjacent_find(ghosts, std::ranges::greater_equal()) == ghosts.end();
  fits = !comm.any(!(interior.ascend && halo.ascend && ghosts_ascend));
  finite = !comm.any(!(interior.finite && halo.finite));
  if (!fits || !finite) return success;
  auto partition = comm::agree(comm, [&] {
    return sparse::RowPartition(std::vector<std::int64_t>(starts, starts + comm.size() + 1));
  });
  auto plan = sparse::make_halo_plan(comm, partition, std::move(ghosts));
  parts = {std::move(partition), std::move(plan), std::move(interior.rows), std::move(halo.rows),
           std::move(halo_rows)};
  return success;
}

/// Collective. What `read` makes of a square matrix as one of type AIJ.
template <class Read>
PetscErrorCode as_aij(const comm::Comm& comm, Mat matrix, Read&& read) {
  PetscInt n = 0;
  PetscInt columns = 0;
  PetscCall(MatGetLocalSize(matrix, &n, &columns));
  PetscCheck(!comm.any(n != columns), PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), PETSC_ERR_SUP,
             "Ayatori: the matrix is not square, or its columns are spread otherwise than its rows");
  PetscBool is_aij = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &is_aij, MATSEQAIJ,
                                          MATMPIAIJ, ""));
  if (is_aij) return read(matrix);
  Mat converted = nullptr;
  PetscCall(MatConvert(matrix, MATAIJ, MAT_INITIAL_MATRIX, &converted));
  struct Destroyed {
    Mat* matrix;
    ~Destroyed() { static_cast<void>(MatDestroy(matrix)); }
  } const destroyed{&converted};
  return read(converted);
}

/// Replaces a transpose that is not stored by what it is the transpose of; leaves any other matrix as it is.
PetscErrorCode stored_part(Mat& matrix) {
  PetscBool is = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &is, MATTRANSPOSEVIRTUAL, ""));
  if (is) PetscCall(MatTransposeGetMat(matrix, &matrix));
  return success;
}

/// The matrices that a matrix consists of, which change without it.
PetscErrorCode parts_of(Mat matrix, std::vector<Mat>& parts) {
  const auto object = reinterpret_cast<PetscObject>(matrix);
  PetscBool is = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(object, MATNEST, &is));
  if (is) {
    PetscInt rows = 0;
    PetscInt columns = 0;
    Mat** part = nullptr;
    PetscCall(MatNestGetSubMats(matrix, &rows, &columns, &part));
    for (PetscInt i = 0; i < rows; ++i)
      for (PetscInt j = 0; j < columns; ++j)
        if (part[i][j] != nullptr) PetscCall(stored_part(parts.emplace_back(part[i][j])));
    return success;
  }
  PetscCall(PetscObjectBaseTypeCompare(object, MATMPIAIJ, &is));
  if (is) {
    parts.resize(2);
    return MatMPIAIJGetSeqAIJ(matrix, &parts[0], &parts[1], nullptr);
  }
  PetscCall(PetscObjectTypeCompare(object, MATIS, &is));
  if (is) {
    Mat local = nullptr;
    PetscCall(MatISGetLocalMat(matrix, &local));
    parts.push_back(local);
    PetscCall(MatISRestoreLocalMat(matrix, &local));
  }
  return success;
}

}  // namespace

PetscErrorCode has_rows(Mat matrix, bool& has) {
  const auto object = reinterpret_cast<PetscObject>(matrix);
  PetscBool is = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompareAny(object, &is, MATSEQAIJ, MATMPIAIJ, ""));
  if (!is)
    PetscCall(PetscObjectTypeCompareAny(object, &is, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ,
                                        MATSEQDENSE, MATMPIDENSE, MATSEQSELL, MATMPISELL, MATIS, ""));
  has = is;
  if (has) return success;
  PetscCall(PetscObjectTypeCompare(object, MATNEST, &is));
  if (!is) return success;
  std::vector<Mat> parts;
  PetscCall(parts_of(matrix, parts));
  has = true;
  for (Mat part : parts)
    if (has) PetscCall(has_rows(part, has));
  return success;
}

PetscErrorCode make_rows(const comm::Comm& comm, Mat matrix, sparse::RowBlock& rows, bool& finite) {
  return as_aij(comm, matrix, [&](Mat aij) { return copy_aij(comm, aij, rows, finite); });
}

PetscErrorCode split_rows(const comm::Comm& comm, Mat matrix, sparse::SplitMatrix& parts, bool& finite) {
  return as_aij(comm, matrix, [&](Mat aij) -> PetscErrorCode {
    bool fits = true;
    PetscCall(split_aij(comm, aij, parts, fits, finite));
    if (fits) return success;
    sparse::RowBlock rows;
    PetscCall(copy_aij(comm, aij, rows, finite));
    if (finite) parts = sparse::split(comm, std::move(rows));
    return success;
  });
}

PetscErrorCode stamp_of(Mat matrix, MatrixStamp& stamp) {
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &stamp.id));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), &stamp.state));
  std::vector<Mat> parts;
  PetscCall(parts_of(matrix, parts));
  for (Mat part : parts) {
    MatrixStamp of_part;
    PetscCall(stamp_of(part, of_part));
    stamp.state = 1000003 * stamp.state + of_part.state + 31 * static_cast<PetscObjectState>(of_part.id);
  }
  return success;
}

}  // namespace ayatori::petsc
