#include "petsc/rows.hpp"

#include <atomic>
#include <span>
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

/// Of a matrix of type AIJ.
PetscErrorCode copy_aij(const comm::Comm& comm, Mat matrix, sparse::RowBlock& block, bool& finite) {
  PetscBool is_sequential = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &is_sequential));
  Mat own_part = matrix;
  Mat other_part = nullptr;
  const PetscInt* garray = nullptr;
  if (!is_sequential) PetscCall(MatMPIAIJGetSeqAIJ(matrix, &own_part, &other_part, &garray));
  LocalRows own;
  LocalRows other;
  PetscCall(own.open(own_part));
  if (other_part != nullptr) PetscCall(other.open(other_part));
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

/// Of a transpose that is not stored what it is the transpose of; any other matrix as it is.
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
  PetscInt n = 0;
  PetscInt columns = 0;
  PetscCall(MatGetLocalSize(matrix, &n, &columns));
  PetscCheck(!comm.any(n != columns), PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), PETSC_ERR_SUP,
             "Ayatori: the matrix is not square, or its columns are spread otherwise than its rows");
  PetscBool is_aij = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &is_aij, MATSEQAIJ,
                                          MATMPIAIJ, ""));
  if (is_aij) return copy_aij(comm, matrix, rows, finite);
  Mat converted = nullptr;
  PetscCall(MatConvert(matrix, MATAIJ, MAT_INITIAL_MATRIX, &converted));
  struct Destroyed {
    Mat* matrix;
    ~Destroyed() { static_cast<void>(MatDestroy(matrix)); }
  } const destroyed{&converted};
  return copy_aij(comm, converted, rows, finite);
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
