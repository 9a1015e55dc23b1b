#include <rsb.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "spmv_peer.hpp"

namespace ayatori::bench {

namespace {

void check(rsb_err_t status, const char* what) {
  if (status != RSB_ERR_NO_ERROR) throw std::runtime_error(std::string("librsb: ") + what + " failed");
}

class Library {
 public:
  explicit Library(rsb_int_t threads) {
    check(rsb_lib_init(RSB_NULL_INIT_OPTIONS), "rsb_lib_init");
    check(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &threads), "the number of threads");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { rsb_lib_exit(RSB_NULL_EXIT_OPTIONS); }
};

using Matrix = std::unique_ptr<rsb_mtx_t, decltype([](rsb_mtx_t* matrix) { rsb_mtx_free(matrix); })>;

/// All of it, or the lower half of a symmetric one.
Matrix make_matrix(const sparse::Csr& a, bool is_symmetric) {
  std::vector<rsb_coo_idx_t> row;
  std::vector<rsb_coo_idx_t> column;
  std::vector<double> value;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      if (is_symmetric && a.column[k] > i) continue;
      row.push_back(i);
      column.push_back(a.column[k]);
      value.push_back(a.value[k]);
    }
  }
  rsb_err_t status = RSB_ERR_NO_ERROR;
  const auto flags = is_symmetric ? RSB_FLAG_SYMMETRIC | RSB_FLAG_LOWER : RSB_FLAG_NOFLAGS;
  Matrix matrix(rsb_mtx_alloc_from_coo_const(
      value.data(), row.data(), column.data(), static_cast<rsb_nnz_idx_t>(value.size()),
      RSB_NUMERICAL_TYPE_DOUBLE, a.rows, a.columns, 0, 0, flags, &status));
  check(matrix ? status : RSB_ERR_GENERIC_ERROR, "making a matrix");
  return matrix;
}

}  // namespace

void with_librsb(const SpmvProblem& problem, const UsePeer& use) {
  constexpr double rounding = 1e-12;
  const Library library(problem.threads);
  std::vector<double> y(problem.matrix.rows);
  const double one = 1;
  const double zero = 0;
  const auto result = [&](std::int32_t row) { return y[row]; };
  for (const bool is_symmetric : {false, true}) {
    if (is_symmetric && !problem.is_symmetric) continue;
    auto matrix = make_matrix(problem.matrix, is_symmetric);
    const std::string name = is_symmetric ? "librsb symmetric" : "librsb";
    const auto multiply = [&] {
      check(rsb_spmv(RSB_TRANSPOSITION_N, &one, matrix.get(), problem.x.data(), 1, &zero, y.data(), 1),
            "rsb_spmv");
    };
    use({name, rounding, multiply, result});
    constexpr double most_seconds = 3;
    rsb_mtx_t* tuned = matrix.release();
    const auto status = rsb_tune_spmm(&tuned, nullptr, nullptr, 0, most_seconds, RSB_TRANSPOSITION_N, &one,
                                      nullptr, 1, RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, problem.x.data(),
                                      problem.matrix.columns, &zero, y.data(), problem.matrix.rows);
    matrix.reset(tuned);
    check(status, "rsb_tune_spmm");
    use({name + " tuned", rounding, multiply, result});
  }
}

}  // namespace ayatori::bench
