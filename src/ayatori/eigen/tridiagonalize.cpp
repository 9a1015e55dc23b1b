#include "ayatori/eigen/tridiagonalize.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "ayatori/eigen/symmetric_product.hpp"

namespace ayatori::eigen {

namespace {

/// Columns of A that a matrix product updates together. It runs over whole rectangles, so that of a narrower
/// strip less is done for nothing above the diagonal.
constexpr std::int64_t strip = 64;

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
class Reduction {
 public:
  Reduction(DenseOf<T>& a, std::int64_t block);
  TridiagonalOf<T> run(std::int64_t columns);

 private:
  void update_column(std::int64_t j);
  T make_reflector(std::int64_t j);
  T spread_reflector(std::int64_t j);
  void make_w(std::int64_t j, T tau);
  void update_trailing(std::int64_t first);
  void to_columns(const T* by_rows, T* by_columns, std::int64_t first, std::int64_t vectors);

  T* v_rows(std::int64_t k) { return vw_rows_.data() + k * rows_; }
  T* w_rows(std::int64_t k) { return v_rows(block_ + k); }
  T* w_columns(std::int64_t k) { return wv_columns_.data() + k * columns_; }
  T* v_columns(std::int64_t k) { return w_columns(block_ + k); }

  DenseOf<T>& a_;
  std::int64_t n_;
  std::int64_t rows_;     ///< local ones
  std::int64_t columns_;  ///< local ones
  std::int64_t block_;
  std::int64_t k_ = 0;  ///< columns of the panel that are done
  TridiagonalOf<T> result_;
  SymmetricProduct<T> product_;
  std::vector<std::int64_t> row_of_column_;  ///< the local row of a local column's index, or nowhere
  Array<T> vw_rows_;                         ///< V, then W: rows_ x 2 block_
  Array<T> wv_columns_;                      ///< W, then V: columns_ x 2 block_
  Array<T> y_columns_, y_rows_;              ///< with room for the sums that travel along
  std::vector<T> vector_;                    ///< one message
};

template <class T>
Reduction<T>::Reduction(DenseOf<T>& a, std::int64_t block)
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

/// Vectors [0, vectors) by rows, from index `first` on, made known by columns. Each element is one rank's of
/// a grid column, so that the sum with the zeros of the others is exact.
template <class T>
void Reduction<T>::to_columns(const T* by_rows, T* by_columns, std::int64_t first, std::int64_t vectors) {
  const std::int64_t left = a_.columns.local_from(first);
  const std::int64_t width = columns_ - left;
  vector_.assign(width * vectors, T{0});
  for (std::int64_t v = 0; v < vectors; ++v) {
    for (std::int64_t l = left; l < columns_; ++l) {
      if (row_of_column_[l] != nowhere)
        vector_[v * width + l - left] = by_rows[v * rows_ + row_of_column_[l]];
    }
  }
  a_.grid.along_column.allreduce(std::span<T>(vector_), comm::ReduceOp::sum);
  for (std::int64_t v = 0; v < vectors; ++v)
    std::copy_n(vector_.data() + v * width, width, by_columns + v * columns_ + left);
}

/// Column j of A - V W^T - W V^T, on and below the diagonal. On the ranks that hold it.
template <class T>
void Reduction<T>::update_column(std::int64_t j) {
  if (k_ == 0) return;
  vector_.resize(2 * k_);
  const std::int64_t row = a_.rows.local(j);
  const std::int64_t column = a_.columns.local(j);
  for (std::int64_t k = 0; k < k_; ++k) {
    vector_[k] = a_.rows.owns(j) ? w_rows(k)[row] : T{0};
    vector_[k_ + k] = v_columns(k)[column];
  }
  a_.grid.along_column.broadcast(std::span<T>(vector_).first(k_), a_.rows.owner(j));
  const std::int64_t top = a_.rows.local_from(j);
  T* const target = a_.column(column) + top;
  multiply<T>(-1, Op::none, {v_rows(0) + top, rows_ - top, k_, rows_}, vector_.data(), 1, target);
  multiply<T>(-1, Op::none, {w_rows(0) + top, rows_ - top, k_, rows_}, vector_.data() + k_, 1, target);
}

/// v_j and beta from column j, on the ranks that hold it; v_j stands in A afterwards. Gives tau.
template <class T>
T Reduction<T>::make_reflector(std::int64_t j) {
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
T Reduction<T>::spread_reflector(std::int64_t j) {
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
void Reduction<T>::make_w(std::int64_t j, T tau) {
  const std::int64_t top = a_.rows.local_from(j + 1);
  const std::int64_t left = a_.columns.local_from(j + 1);
  const std::int64_t height = rows_ - top;
  const T* const v = v_rows(k_);
  const T* const x = v_columns(k_);
  T* const w = w_rows(k_);
  std::fill_n(w, rows_, T{0});
  if (tau == 0) return;

  product_(j + 1, v, x, y_rows_.data(), y_columns_.data());

  // Along columns: y by columns, then V^T v, W^T v, and v^T A v.
  T* const sums = y_columns_.data() + columns_;
  multiply<T>(1, Op::transpose, {v_rows(0) + top, height, k_, rows_}, v + top, 0, sums);
  multiply<T>(1, Op::transpose, {w_rows(0) + top, height, k_, rows_}, v + top, 0, sums + k_);
  sums[2 * k_] = dot(v, y_rows_.data(), top, rows_) + dot(x, y_columns_.data(), left, columns_);
  a_.grid.along_column.allreduce(std::span<T>(y_columns_.data() + left, columns_ - left + 2 * k_ + 1),
                                 comm::ReduceOp::sum);
  for (std::int64_t l = left; l < columns_; ++l) {
    if (row_of_column_[l] != nowhere) y_rows_[row_of_column_[l]] += y_columns_[l];
  }
  // Along rows: A v by rows, and v^T A v.
  y_rows_[rows_] = sums[2 * k_];
  a_.grid.along_row.allreduce(std::span<T>(y_rows_.data() + top, height + 1), comm::ReduceOp::sum);

  T* const p = y_rows_.data() + top;
  multiply<T>(-1, Op::none, {v_rows(0) + top, height, k_, rows_}, sums + k_, 1, p);
  multiply<T>(-1, Op::none, {w_rows(0) + top, height, k_, rows_}, sums, 1, p);
  const T p_v = y_rows_[rows_] - 2 * dot(sums, sums + k_, 0, k_);
  for (std::int64_t k = 0; k < height; ++k) w[top + k] = tau * (p[k] - T{0.5} * tau * p_v * v[top + k]);
}

/// A -= V W^T + W V^T from column and row `first` on, on and below the diagonal, and some above.
template <class T>
void Reduction<T>::update_trailing(std::int64_t first) {
  to_columns(w_rows(0), w_columns(0), first, k_);
  for (std::int64_t l = a_.columns.local_from(first); l < columns_; l += strip) {
    const std::int64_t width = std::min(strip, columns_ - l);
    const std::int64_t top = a_.rows.local_from(a_.columns.global(l));
    const BlockOf<T> target{a_.column(l) + top, rows_ - top, width, rows_};
    const auto subtract = [&](const T* left, const T* right, std::int64_t inner) {
      multiply<T>(-1, Op::none, {left + top, target.rows, inner, rows_}, Op::transpose,
                  {right + l, width, inner, columns_}, 1, target);
    };
    if (k_ == block_) {  // side by side
      subtract(v_rows(0), w_columns(0), 2 * k_);
    } else {
      subtract(v_rows(0), w_columns(0), k_);
      subtract(w_rows(0), v_columns(0), k_);
    }
  }
}

template <class T>
TridiagonalOf<T> Reduction<T>::run(std::int64_t columns) {
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
  return Reduction<T>(a, block).run(columns);
}

template Tridiagonal tridiagonalize(DenseOf<double>& a, std::int64_t block, std::int64_t columns);
template TridiagonalOf<float> tridiagonalize(DenseOf<float>& a, std::int64_t block, std::int64_t columns);

}  // namespace ayatori::eigen
