#include "ayatori/eigen/reduction/band_reduction.hpp"

#include <algorithm>

namespace ayatori::eigen {

namespace {

/// Columns of A that a matrix product passes over together: it runs over whole rectangles, so that of a
/// narrower strip less is done for nothing at the diagonal.
constexpr std::int64_t strip = 64;

constexpr std::int64_t nowhere = -1;

/// The state of the reduction. Vectors "by rows" have an element for each local row of A, and are the same on
/// all ranks of a grid row; "by columns" likewise.
template <class T>
class ReductionToBand {
  using Block = BlockOf<T>;
  using ConstBlock = ConstBlockOf<T>;

 public:
  ReductionToBand(DenseOf<T>& a, std::int64_t width);
  BandReduction<T> run();

 private:
  void factor_panel(std::int64_t begin);
  void spread_reflectors(std::int64_t first, const Array<T>& panel, std::int64_t height);
  void multiply_strip(std::int64_t l, std::int64_t columns);
  void make_product(std::int64_t first);
  void make_w(std::int64_t first);
  void update_trailing(std::int64_t first);

  BlockOf<T> by_rows(Array<T>& values, std::int64_t top, std::int64_t vector = 0) {
    return {values.data() + vector * rows_ + top, rows_ - top, k_, rows_};
  }

  DenseOf<T>& a_;
  std::int64_t n_;
  std::int64_t rows_;     ///< local ones
  std::int64_t columns_;  ///< local ones
  std::int64_t width_;
  std::int64_t k_ = 0;  ///< reflectors of this panel
  BandReduction<T> result_;
  std::vector<std::int64_t> row_of_column_;  ///< the local row of a local column's index, or nowhere
  Array<T> t_, gram_;                        ///< k x k: T, and V^T A V
  Array<T> vw_rows_;                         ///< V, then W: rows x 2 k
  Array<T> wv_columns_;                      ///< W, then V: columns x 2 k
  Array<T> p_rows_, p_columns_;              ///< A V, with room for V^T A V
  Array<T> ragged_;                          ///< what a strip holds at the diagonal
  std::vector<T> message_;
};

template <class T>
ReductionToBand<T>::ReductionToBand(DenseOf<T>& a, std::int64_t width)
    : a_(a),
      n_(a.order()),
      rows_(a.rows.count()),
      columns_(a.columns.count()),
      width_(width),
      result_{{n_, width, Array<T>(n_ * (width + 1), T{0})}, {}},
      row_of_column_(columns_, nowhere),
      t_(width * width),
      gram_(width * width),
      vw_rows_(rows_ * 2 * width),
      wv_columns_(columns_ * 2 * width),
      p_rows_(rows_ * width),
      p_columns_(columns_ * width) {
  for (std::int64_t l = 0; l < columns_; ++l) {
    const std::int64_t j = a.columns.global(l);
    if (a.rows.owns(j)) row_of_column_[l] = a.rows.local(j);
  }
}

/// Columns [begin, begin + width): the band, V (in A, by rows and by columns) and T.
template <class T>
void ReductionToBand<T>::factor_panel(std::int64_t begin) {
  const std::int64_t first = begin + width_;
  const std::int64_t height = n_ - begin;
  const std::int64_t below = n_ - first;
  k_ = std::min(width_, below);
  Array<T> panel = gather_columns(a_, {begin, first}, begin);
  T* const v = panel.data() + width_;
  const Block t{t_.data(), k_, k_, k_};
  factor_qr<T>({v, below, k_, height}, t);

  const auto keep = [&](std::int64_t column) {
    const T* const source = panel.data() + column * height;
    std::copy(source + column, source + std::min(column + width_ + 1, height),
              result_.band.column(begin + column));
  };
  for (std::int64_t column = 0; column < k_; ++column) {
    keep(column);
    result_.tau.push_back(t_[column * k_ + column]);
    std::fill_n(v + column * height, column, T{0});
    v[column * height + column] = 1;
  }
  if (k_ < width_) {  // the last panel: Q^T for the columns that are in the band already
    const Block rest{v + k_ * height, below, width_ - k_, height};
    const Block product{gram_.data(), k_, rest.columns, k_};
    multiply<T>(1, Op::transpose, {v, below, k_, height}, Op::none, rest, 0, product);
    multiply_upper_triangular<T>(Side::left, Op::transpose, t, product);
    multiply<T>(-1, Op::none, {v, below, k_, height}, Op::none, product, 1, rest);
    for (std::int64_t column = k_; column < width_; ++column) keep(column);
  }
  spread_reflectors(first, panel, height);
}

/// V, which stands in the panel's last rows, to where it is needed.
template <class T>
void ReductionToBand<T>::spread_reflectors(std::int64_t first, const Array<T>& panel, std::int64_t height) {
  const std::int64_t above = n_ - height;  // rows above the panel's
  const Range of_a{first - width_, first - width_ + k_};
  for (std::int64_t l = a_.columns.local_from(of_a.begin); l < a_.columns.local_from(of_a.end); ++l) {
    const T* const v = panel.data() + (a_.columns.global(l) - of_a.begin) * height - above;
    for (std::int64_t i = a_.rows.local_from(first); i < rows_; ++i) a_.column(l)[i] = v[a_.rows.global(i)];
  }
  for (std::int64_t vector = 0; vector < k_; ++vector) {
    const T* const v = panel.data() + vector * height - above;
    T* const of_rows = vw_rows_.data() + vector * rows_;
    T* const of_columns = wv_columns_.data() + (k_ + vector) * columns_;
    for (std::int64_t i = a_.rows.local_from(first); i < rows_; ++i) of_rows[i] = v[a_.rows.global(i)];
    for (std::int64_t l = a_.columns.local_from(first); l < columns_; ++l)
      of_columns[l] = v[a_.columns.global(l)];
  }
}

/// What the local columns [l, l + columns) add to A V, on and below the diagonal, each element for both of
/// its places.
template <class T>
void ReductionToBand<T>::multiply_strip(std::int64_t l, std::int64_t columns) {
  const std::int64_t top = a_.rows.local_from(a_.columns.global(l));
  const std::int64_t below = a_.rows.local_from(a_.columns.global(l + columns - 1) + 1);
  const std::int64_t height = below - top;
  const ConstBlock v_columns{wv_columns_.data() + k_ * columns_ + l, columns, k_, columns_};
  const Block p_columns{p_columns_.data() + l, columns, k_, columns_};
  const auto add = [&](ConstBlock below_diagonal, ConstBlock with_diagonal, std::int64_t row) {
    const std::int64_t rows = below_diagonal.rows;
    multiply<T>(1, Op::none, with_diagonal, Op::none, v_columns, 1, {p_rows_.data() + row, rows, k_, rows_});
    multiply<T>(1, Op::transpose, below_diagonal, Op::none, {vw_rows_.data() + row, rows, k_, rows_}, 1,
                p_columns);
  };
  // What is above the diagonal is not to be counted, the diagonal once.
  ragged_.resize(2 * height * columns);
  T* const strict = ragged_.data() + height * columns;
  for (std::int64_t c = 0; c < columns; ++c) {
    const std::int64_t j = a_.columns.global(l + c);
    for (std::int64_t i = 0; i < height; ++i) {
      const std::int64_t row = a_.rows.global(top + i);
      const T value = a_.column(l + c)[top + i];
      ragged_[c * height + i] = row < j ? T{0} : value;
      strict[c * height + i] = row <= j ? T{0} : value;
    }
  }
  add({strict, height, columns, height}, {ragged_.data(), height, columns, height}, top);
  const ConstBlock whole{a_.column(l) + below, rows_ - below, columns, rows_};
  if (whole.rows > 0) add(whole, whole, below);
}

/// P = A V by rows, and V^T P, from row and column `first` on.
template <class T>
void ReductionToBand<T>::make_product(std::int64_t first) {
  const std::int64_t top = a_.rows.local_from(first);
  const std::int64_t left = a_.columns.local_from(first);
  const std::int64_t height = rows_ - top;
  const std::int64_t across = columns_ - left;
  std::fill(p_rows_.begin(), p_rows_.end(), T{0});
  std::fill(p_columns_.begin(), p_columns_.end(), T{0});
  for (std::int64_t l = left; l < columns_; l += strip) multiply_strip(l, std::min(strip, columns_ - l));

  const Block gram{gram_.data(), k_, k_, k_};
  multiply<T>(1, Op::transpose, by_rows(vw_rows_, top), Op::none, by_rows(p_rows_, top), 0, gram);
  multiply<T>(1, Op::transpose, {wv_columns_.data() + k_ * columns_ + left, across, k_, columns_}, Op::none,
              {p_columns_.data() + left, across, k_, columns_}, 1, gram);
  // Along grid columns, then along rows: sums of what was added, and of V^T P behind it.
  const auto sum = [&](const comm::Comm& comm, Array<T>& p, std::int64_t from, std::int64_t length,
                       std::int64_t leading) {
    message_.resize((length + k_) * k_);
    for (std::int64_t vector = 0; vector < k_; ++vector)
      std::copy_n(p.data() + vector * leading + from, length, message_.data() + vector * length);
    std::copy_n(gram_.data(), k_ * k_, message_.data() + length * k_);
    comm.allreduce(std::span<T>(message_), comm::ReduceOp::sum);
    for (std::int64_t vector = 0; vector < k_; ++vector)
      std::copy_n(message_.data() + vector * length, length, p.data() + vector * leading + from);
    std::copy_n(message_.data() + length * k_, k_ * k_, gram_.data());
  };
  if (a_.grid.shape.rows > 1) sum(a_.grid.along_column, p_columns_, left, across, columns_);
  for (std::int64_t l = left; l < columns_; ++l) {
    if (row_of_column_[l] == nowhere) continue;
    for (std::int64_t vector = 0; vector < k_; ++vector)
      p_rows_[vector * rows_ + row_of_column_[l]] += p_columns_[vector * columns_ + l];
  }
  if (a_.grid.shape.columns > 1) sum(a_.grid.along_row, p_rows_, top, height, rows_);
}

/// W = P T - 1/2 V T^T (V^T P) T, by rows and by columns.
template <class T>
void ReductionToBand<T>::make_w(std::int64_t first) {
  const std::int64_t top = a_.rows.local_from(first);
  const std::int64_t left = a_.columns.local_from(first);
  const std::int64_t across = columns_ - left;
  const ConstBlock t{t_.data(), k_, k_, k_};
  const Block gram{gram_.data(), k_, k_, k_};
  const Block w = by_rows(vw_rows_, top, k_);
  for (std::int64_t vector = 0; vector < k_; ++vector)
    std::copy_n(p_rows_.data() + vector * rows_ + top, rows_ - top, w.data + vector * rows_);
  multiply_upper_triangular<T>(Side::right, Op::none, t, w);
  multiply_upper_triangular<T>(Side::right, Op::none, t, gram);
  multiply_upper_triangular<T>(Side::left, Op::transpose, t, gram);
  multiply<T>(T{-0.5}, Op::none, by_rows(vw_rows_, top), Op::none, gram, 1, w);

  // Each element is one rank's of a grid column: the sum with the zeros of the others is exact.
  message_.assign(across * k_, T{0});
  for (std::int64_t l = left; l < columns_; ++l) {
    if (row_of_column_[l] == nowhere) continue;
    for (std::int64_t vector = 0; vector < k_; ++vector)
      message_[vector * across + l - left] = vw_rows_[(k_ + vector) * rows_ + row_of_column_[l]];
  }
  a_.grid.along_column.allreduce(std::span<T>(message_), comm::ReduceOp::sum);
  for (std::int64_t vector = 0; vector < k_; ++vector)
    std::copy_n(message_.data() + vector * across, across, wv_columns_.data() + vector * columns_ + left);
}

/// A -= V W^T + W V^T from column and row `first` on, on and below the diagonal, and some above.
template <class T>
void ReductionToBand<T>::update_trailing(std::int64_t first) {
  for (std::int64_t l = a_.columns.local_from(first); l < columns_; l += strip) {
    const std::int64_t across = std::min(strip, columns_ - l);
    const std::int64_t top = a_.rows.local_from(a_.columns.global(l));
    multiply<T>(-1, Op::none, {vw_rows_.data() + top, rows_ - top, 2 * k_, rows_}, Op::transpose,
                {wv_columns_.data() + l, across, 2 * k_, columns_}, 1,
                {a_.column(l) + top, rows_ - top, across, rows_});
  }
}

template <class T>
BandReduction<T> ReductionToBand<T>::run() {
  std::int64_t begin = 0;
  for (; n_ - begin - width_ >= 2; begin += width_) {
    factor_panel(begin);
    make_product(begin + width_);
    make_w(begin + width_);
    update_trailing(begin + width_);
  }
  const Array<T> rest = gather_columns(a_, {begin, n_}, begin);
  const std::int64_t height = n_ - begin;
  for (std::int64_t column = 0; column < height; ++column) {
    std::copy(rest.data() + column * height + column, rest.data() + (column + 1) * height,
              result_.band.column(begin + column));
  }
  return std::move(result_);
}

}  // namespace

template <class T>
BandReduction<T> reduce_to_band(DenseOf<T>& a, std::int64_t width) {
  return ReductionToBand<T>(a, width).run();
}

template BandReduction<double> reduce_to_band(DenseOf<double>& a, std::int64_t width);
template BandReduction<float> reduce_to_band(DenseOf<float>& a, std::int64_t width);

}  // namespace ayatori::eigen
