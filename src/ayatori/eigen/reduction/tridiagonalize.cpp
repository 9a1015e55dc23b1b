#include "ayatori/eigen/reduction/tridiagonalize.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "ayatori/eigen/reduction/symmetric_product.hpp"

namespace ayatori::eigen {

namespace {

/// Columns of A that a matrix product updates together, and those at the diagonal: products run over whole
/// rectangles, wide ones are faster, and of a narrow one less is done for nothing above the diagonal.
constexpr std::int64_t strip = 128;
constexpr std::int64_t narrow_strip = 32;

constexpr std::int64_t nowhere = -1;

template <class T>
T dot(const T* x, const T* y, std::int64_t begin, std::int64_t end) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t k = begin; k < end; ++k) sum += x[k] * y[k];
  return sum;
}

/// The state of the reduction. A vector "by rows" has an element for each local row of A, and is the same on
/// all ranks of a grid row; "by columns" likewise.
template <class T>
class Tridiagonalization {
 public:
  Tridiagonalization(DenseOf<T>& a, std::int64_t block);
  TridiagonalOf<T> run(std::int64_t columns);

 private:
  void update_column(std::int64_t j);
  T make_reflector(std::int64_t j);
  T spread_reflector(std::int64_t j);
  void make_w(std::int64_t j, T tau);
  void update_trailing(std::int64_t first);
  void to_columns(const T* by_rows, T* by_columns, std::int64_t first, std::int64_t vectors);

  T* v_rows(std::int64_t k) { return vw_rows_.data() + 2 * k * rows_; }
  T* w_rows(std::int64_t k) { return v_rows(k) + rows_; }
  T* w_columns(std::int64_t k) { return wv_columns_.data() + 2 * k * columns_; }
  T* v_columns(std::int64_t k) { return w_columns(k) + columns_; }
  ConstBlockOf<T> vw_from(std::int64_t row) { return {v_rows(0) + row, rows_ - row, 2 * k_, rows_}; }

  DenseOf<T>& a_;
  std::int64_t n_;
  std::int64_t rows_;     ///< local ones
  std::int64_t columns_;  ///< local ones
  std::int64_t block_;
  std::int64_t k_ = 0;  ///< columns of the panel that are done
  TridiagonalOf<T> result_;
  SymmetricProduct<T> product_;
  std::vector<std::int64_t> row_of_column_;  ///< the local row of a local column's index, or nowhere
  Array<T> vw_rows_;                         ///< v_0, w_0, v_1, w_1, ...: rows_ x 2 block_
  Array<T> wv_columns_;                      ///< w_0, v_0, w_1, v_1, ...: columns_ x 2 block_
  Array<T> y_columns_, y_rows_;              ///< with room for the sums that travel along
  std::vector<T> vector_;                    ///< one message
  std::vector<T> factors_;                   ///< factors of v_0, w_0, v_1, ...
};

template <class T>
Tridiagonalization<T>::Tridiagonalization(DenseOf<T>& a, std::int64_t block)
    : a_(a),
      n_(a.order()),
      rows_(a.rows.count()),
      columns_(a.columns.count()),
      block_(block),
      result_{std::vector<T>(n_, T{0}), std::vector<T>(std::max<std::int64_t>(n_ - 1, 0), T{0}),
              std::vector<T>(std::max<std::int64_t>(n_ - 2, 0), T{0})},
      product_(a),
      row_of_column_(columns_, nowhere),
      vw_rows_(rows_ * 2 * block, T{0}),
      wv_columns_(columns_ * 2 * block, T{0}),
      y_columns_(columns_ + 2 * block + 1),
      y_rows_(rows_ + 1) {
  for (std::int64_t l = 0; l < columns_; ++l) {
    const std::int64_t j = a.columns.global(l);
    if (a.rows.owns(j)) row_of_column_[l] = a.rows.local(j);
  }
}

/// Every second one of some vectors by rows, from index `first` on, made known by columns. Each element is
/// one rank's of a grid column, so that the sum with the zeros of the others is exact; all are the same
/// rank's where the rows of the grid divide its columns.
template <class T>
void Tridiagonalization<T>::to_columns(const T* by_rows, T* by_columns, std::int64_t first,
                                       std::int64_t vectors) {
  const GridShape shape = a_.grid.shape;
  const std::int64_t left = a_.columns.local_from(first);
  const std::int64_t width = columns_ - left;
  if (a_.grid.all.size() == 1) {
    for (std::int64_t v = 0; v < vectors; ++v)
      std::copy_n(by_rows + 2 * v * rows_ + left, width, by_columns + 2 * v * columns_ + left);
    return;
  }
  vector_.assign(width * vectors, T{0});
  for (std::int64_t v = 0; v < vectors; ++v) {
    for (std::int64_t l = left; l < columns_; ++l) {
      if (row_of_column_[l] != nowhere)
        vector_[v * width + l - left] = by_rows[2 * v * rows_ + row_of_column_[l]];
    }
  }
  if (shape.columns % shape.rows == 0) {
    a_.grid.along_column.broadcast(std::span<T>(vector_), a_.grid.column % shape.rows);
  } else {
    a_.grid.along_column.allreduce(std::span<T>(vector_), comm::ReduceOp::sum);
  }
  for (std::int64_t v = 0; v < vectors; ++v)
    std::copy_n(vector_.data() + v * width, width, by_columns + 2 * v * columns_ + left);
}

/// Column j of A - V W^T - W V^T, on and below the diagonal. On the ranks that hold it.
template <class T>
void Tridiagonalization<T>::update_column(std::int64_t j) {
  if (k_ == 0) return;
  vector_.assign(k_, T{0});
  factors_.resize(2 * k_);
  const std::int64_t row = a_.rows.local(j);
  const std::int64_t column = a_.columns.local(j);
  if (a_.rows.owns(j)) {
    for (std::int64_t k = 0; k < k_; ++k) vector_[k] = w_rows(k)[row];
  }
  a_.grid.along_column.broadcast(std::span<T>(vector_), a_.rows.owner(j));
  for (std::int64_t k = 0; k < k_; ++k) {
    factors_[2 * k] = vector_[k];
    factors_[2 * k + 1] = v_columns(k)[column];
  }
  const std::int64_t top = a_.rows.local_from(j);
  multiply<T>(-1, Op::none, vw_from(top), factors_.data(), 1, a_.column(column) + top);
}

/// v_j and beta from column j, on the ranks that hold it; v_j stands in A afterwards. Gives tau.
template <class T>
T Tridiagonalization<T>::make_reflector(std::int64_t j) {
  T* const x = a_.column(a_.columns.local(j));
  const std::int64_t below = a_.rows.local_from(j + 2);
  const bool has_first = a_.rows.owns(j + 1);
  T sums[2] = {dot(x, x, below, rows_), has_first ? x[a_.rows.local(j + 1)] : T{0}};
  a_.grid.along_column.allreduce(std::span<T>(sums), comm::ReduceOp::sum);
  const auto [square, alpha] = sums;
  const bool is_done = square <= negligible_square<T>;
  const T beta = is_done ? alpha : -std::copysign(std::sqrt(alpha * alpha + square), alpha);
  for (std::int64_t k = below; k < rows_; ++k) x[k] = is_done ? T{0} : x[k] / (alpha - beta);
  if (has_first) x[a_.rows.local(j + 1)] = 1;
  const T tau = is_done ? T{0} : (beta - alpha) / beta;
  if (a_.rows.owns(j)) {  // each number on one rank; summed at the end
    result_.diagonal[j] = x[a_.rows.local(j)];
    result_.off_diagonal[j] = beta;
    result_.tau[j] = tau;
  }
  return tau;
}

/// v_j, by rows and by columns, to all. Gives tau.
template <class T>
T Tridiagonalization<T>::spread_reflector(std::int64_t j) {
  const std::int64_t top = a_.rows.local_from(j + 1);
  T* const v = v_rows(k_);
  std::fill_n(v, top, T{0});
  const int owner = a_.columns.owner(j);
  T tau = 0;
  if (owner == a_.grid.column) {
    update_column(j);
    tau = make_reflector(j);
    const T* const x = a_.column(a_.columns.local(j));
    std::copy(x + top, x + rows_, v + top);
  }
  vector_.assign(v + top, v + rows_);
  vector_.push_back(tau);
  a_.grid.along_row.broadcast(std::span<T>(vector_), owner);
  tau = vector_.back();
  std::copy(vector_.begin(), vector_.end() - 1, v + top);
  to_columns(v, v_columns(k_), j + 1, 1);
  return tau;
}

/// w by rows.
template <class T>
void Tridiagonalization<T>::make_w(std::int64_t j, T tau) {
  const std::int64_t top = a_.rows.local_from(j + 1);
  const std::int64_t left = a_.columns.local_from(j + 1);
  const std::int64_t height = rows_ - top;
  const T* const v = v_rows(k_);
  const T* const x = v_columns(k_);
  T* const w = w_rows(k_);
  std::fill_n(w, rows_, T{0});
  if (tau == 0) return;

  product_(j + 1, v, x, y_rows_.data(), y_columns_.data());

  // Along columns: y by columns, then v_k^T v and w_k^T v in turn, and v^T A v.
  T* const sums = y_columns_.data() + columns_;
  multiply<T>(1, Op::transpose, vw_from(top), v + top, 0, sums);
  sums[2 * k_] = dot(v, y_rows_.data(), top, rows_) + dot(x, y_columns_.data(), left, columns_);
  a_.grid.along_column.allreduce(std::span<T>(y_columns_.data() + left, columns_ - left + 2 * k_ + 1),
                                 comm::ReduceOp::sum);
  if (a_.grid.all.size() > 1) {  // else all is by rows
    for (std::int64_t l = left; l < columns_; ++l) {
      if (row_of_column_[l] != nowhere) y_rows_[row_of_column_[l]] += y_columns_[l];
    }
  }
  // Along rows: A v by rows, and v^T A v.
  y_rows_[rows_] = sums[2 * k_];
  a_.grid.along_row.allreduce(std::span<T>(y_rows_.data() + top, height + 1), comm::ReduceOp::sum);

  // p = A v - V W^T v - W V^T v
  T* const p = y_rows_.data() + top;
  T p_v = y_rows_[rows_];
  factors_.resize(2 * k_);
  for (std::int64_t k = 0; k < k_; ++k) {
    factors_[2 * k] = sums[2 * k + 1];
    factors_[2 * k + 1] = sums[2 * k];
    p_v -= 2 * sums[2 * k] * sums[2 * k + 1];
  }
  multiply<T>(-1, Op::none, vw_from(top), factors_.data(), 1, p);
  for (std::int64_t k = 0; k < height; ++k) w[top + k] = tau * (p[k] - T{0.5} * tau * p_v * v[top + k]);
}

/// A -= V W^T + W V^T from column and row `first` on, on and below the diagonal, and some above.
template <class T>
void Tridiagonalization<T>::update_trailing(std::int64_t first) {
  to_columns(w_rows(0), w_columns(0), first, k_);
  const auto update = [&](Range columns, std::int64_t top, std::int64_t bottom) {
    multiply<T>(-1, Op::none, {v_rows(0) + top, bottom - top, 2 * k_, rows_}, Op::transpose,
                {w_columns(0) + columns.begin, columns.size(), 2 * k_, columns_}, 1,
                {a_.column(columns.begin) + top, bottom - top, columns.size(), rows_});
  };
  for (std::int64_t l = a_.columns.local_from(first); l < columns_; l += strip) {
    const std::int64_t end = std::min(l + strip, columns_);
    const std::int64_t below = a_.rows.local_from(a_.columns.global(end - 1));
    for (std::int64_t step = l; step < end; step += narrow_strip)
      update({step, std::min(step + narrow_strip, end)}, a_.rows.local_from(a_.columns.global(step)), below);
    update({l, end}, below, rows_);
  }
}

template <class T>
TridiagonalOf<T> Tridiagonalization<T>::run(std::int64_t columns) {
  for (std::int64_t begin = 0; begin < std::min(n_ - 2, columns); begin += block_) {
    const std::int64_t end = std::min(begin + block_, n_ - 2);
    k_ = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const T tau = spread_reflector(j);
      make_w(j, tau);
      ++k_;
    }
    update_trailing(end);
  }
  for (std::int64_t j = std::max<std::int64_t>(n_ - 2, 0); j < n_; ++j) {
    if (!a_.columns.owns(j)) continue;
    const T* const x = a_.column(a_.columns.local(j));
    if (a_.rows.owns(j)) result_.diagonal[j] = x[a_.rows.local(j)];
    if (j + 1 < n_ && a_.rows.owns(j + 1)) result_.off_diagonal[j] = x[a_.rows.local(j + 1)];
  }
  for (std::vector<T>* part : {&result_.diagonal, &result_.off_diagonal, &result_.tau})
    a_.grid.all.allreduce(std::span<T>(*part), comm::ReduceOp::sum);
  return std::move(result_);
}

}  // namespace

template <class T>
TridiagonalOf<T> tridiagonalize(DenseOf<T>& a, std::int64_t block, std::int64_t columns) {
  return Tridiagonalization<T>(a, block).run(columns);
}

template Tridiagonal tridiagonalize(DenseOf<double>& a, std::int64_t block, std::int64_t columns);
template TridiagonalOf<float> tridiagonalize(DenseOf<float>& a, std::int64_t block, std::int64_t columns);

}  // namespace ayatori::eigen
