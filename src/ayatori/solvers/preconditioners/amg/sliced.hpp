#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/amg/block_csr.hpp"

// Matrices of the hierarchy as its cycles read them: values of type T, for instance float, which is enough
// for a preconditioner and moves half the bytes.

namespace ayatori::solvers::amg {

/// Rows of a slice, and elements of a vector register or two.
inline constexpr int slice_rows = 16;

template <class T>
struct SliceOf {
  using type [[gnu::vector_size(slice_rows * sizeof(T))]] = T;
};
template <class T>
using Slice = typename SliceOf<T>::type;

template <class T>
[[gnu::always_inline]] inline Slice<T> load_slice(const T* from) {
  Slice<T> slice;
  std::memcpy(&slice, from, sizeof slice);
  return slice;
}
template <class T>
[[gnu::always_inline]] inline void store_slice(T* to, const Slice<T>& slice) {
  std::memcpy(to, &slice, sizeof slice);
}

/// Where the values of a grid function with B unknowns per node are: unknown c of own node i in
/// [c * stride + i], of ghost g in [c * stride + padded + g]. What is between own nodes and ghosts, and
/// behind the ghosts, is 0.
struct Shape {
  std::int32_t own = 0;
  std::int32_t padded = 0;
  std::int64_t stride = 0;

  Shape() = default;
  Shape(std::int32_t own_nodes, std::int32_t ghosts)
      : own(own_nodes), padded(round_up(own_nodes)), stride(padded + round_up(ghosts)) {}

  std::int32_t place(std::int32_t node) const { return node < own ? node : padded + node - own; }

 private:
  static std::int32_t round_up(std::int32_t n) { return (n + slice_rows - 1) / slice_rows * slice_rows; }
};

/// A matrix of blocks in slices of 16 rows cut along diagonals, like the kernel run-sell: a run is 16 blocks
/// and the column of the first, and multiplies 16 neighbouring nodes, loaded, not gathered. What fills less
/// than half of a run is kept beside, as compressed sparse rows. Traffic: (16 B^2 sizeof(T) + 4) per run,
/// B^2 sizeof(T) + 4 per block outside.
template <int B, class T>
class Sliced {
 public:
  Sliced() = default;
  Sliced(const BlockCsr<B>& a, const Shape& shape) : shape_(shape), rows_(a.rows) {
    const std::int64_t slices = this->slices();
    run_start_.assign(slices + 1, 0);
    rest_start_.assign(slices * slice_rows + 1, 0);
    parallel_for(slices, [&](std::int64_t s) {
      for_each_diagonal(a, s, [&](std::int64_t first, int count, const Places& places, std::uint32_t lanes) {
        if (is_run(first, count)) {
          ++run_start_[s + 1];
        } else {
          for (int l = 0; l < slice_rows; ++l) rest_start_[s * slice_rows + l + 1] += (lanes >> l) & 1U;
        }
        static_cast<void>(places);
      });
    });
    std::partial_sum(run_start_.begin(), run_start_.end(), run_start_.begin());
    std::partial_sum(rest_start_.begin(), rest_start_.end(), rest_start_.begin());
    run_column_.resize(run_start_.back());
    run_value_.resize(run_start_.back() * run_entries);
    rest_column_.resize(rest_start_.back());
    rest_value_.resize(rest_start_.back() * bb);
    parallel_for(slices, [&](std::int64_t s) { fill(a, s); });
  }

  std::int64_t slices() const { return shape_.padded / slice_rows; }
  const Shape& shape() const { return shape_; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(8 * (run_start_.size() + rest_start_.size()) +
                                     4 * (run_column_.size() + rest_column_.size()) +
                                     sizeof(T) * (run_value_.size() + rest_value_.size()));
  }

  /// Calls use(s, sums) for every slice, sums[c] being unknown c of the product with x in its rows.
  template <class Use>
  void multiply(const T* x, Use&& use) const {
    parallel_ranges(slices() * slice_rows, [&](Range rows) {
      const Range range{(rows.begin + slice_rows - 1) / slice_rows, (rows.end + slice_rows - 1) / slice_rows};
      for (std::int64_t s = range.begin; s < range.end; ++s) {
        Slice<T> sums[B] = {};
        const T* value = run_value_.data() + run_start_[s] * run_entries;
        for (std::int64_t run = run_start_[s]; run < run_start_[s + 1]; ++run) {
          const T* from = x + run_column_[run];
          Slice<T> element[B];
          for (int c = 0; c < B; ++c) element[c] = load_slice(from + c * shape_.stride);
          for (int r = 0; r < B; ++r)
            for (int c = 0; c < B; ++c, value += slice_rows) sums[r] += load_slice(value) * element[c];
        }
        if (rest_start_[s * slice_rows] < rest_start_[(s + 1) * slice_rows]) add_rest(x, s, sums);
        use(s, sums);
      }
    });
  }

 private:
  static constexpr int bb = B * B;
  static constexpr int run_entries = bb * slice_rows;
  static constexpr int least_run = slice_rows / 2;
  using Places = std::int64_t[slice_rows];

  bool is_run(std::int64_t first, int count) const {
    return count >= least_run && first >= 0 && first + slice_rows <= shape_.stride;
  }

  /// Calls diagonal(c, count, places, lanes) for every diagonal on which slice s has blocks: that of row l is
  /// in place c + l of a vector, if bit l of `lanes` is set, and is block places[l].
  template <class Diagonal>
  void for_each_diagonal(const BlockCsr<B>& a, std::int64_t s, Diagonal&& diagonal) const {
    constexpr std::int32_t done = std::numeric_limits<std::int32_t>::max();
    Places next;
    std::int64_t end[slice_rows];
    alignas(64) std::int32_t key[slice_rows];
    const auto look = [&](int l) { key[l] = next[l] < end[l] ? shape_.place(a.column[next[l]]) - l : done; };
    for (int l = 0; l < slice_rows; ++l) {
      const std::int64_t i = s * slice_rows + l;
      next[l] = i < rows_ ? a.row_start[i] : 0;
      end[l] = i < rows_ ? a.row_start[i + 1] : 0;
      look(l);
    }
    for (;;) {
      std::int32_t smallest = done;
      for (const std::int32_t k : key) smallest = std::min(smallest, k);
      if (smallest == done) return;
      std::uint32_t lanes = 0;
      for (int l = 0; l < slice_rows; ++l) lanes |= (key[l] == smallest ? 1U : 0U) << l;
      diagonal(smallest, __builtin_popcount(lanes), next, lanes);
      for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        ++next[l];
        look(l);
      }
    }
  }

  void fill(const BlockCsr<B>& a, std::int64_t s) {
    std::int64_t run = run_start_[s];
    std::int64_t rest[slice_rows];
    std::copy_n(&rest_start_[s * slice_rows], slice_rows, rest);
    for_each_diagonal(a, s, [&](std::int64_t first, int count, const Places& places, std::uint32_t lanes) {
      if (is_run(first, count)) {
        T* values = &run_value_[run * run_entries];
        if (count < slice_rows) std::fill_n(values, run_entries, T{});
        run_column_[run++] = static_cast<std::int32_t>(first);
        for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
          const int l = __builtin_ctz(left);
          for (int v = 0; v < bb; ++v) values[v * slice_rows + l] = static_cast<T>(a.block(places[l])[v]);
        }
        return;
      }
      for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        rest_column_[rest[l]] = static_cast<std::int32_t>(first + l);
        for (int v = 0; v < bb; ++v) rest_value_[rest[l] * bb + v] = static_cast<T>(a.block(places[l])[v]);
        ++rest[l];
      }
    });
  }

  void add_rest(const T* x, std::int64_t s, Slice<T>* sums) const {
    T more[B][slice_rows];
    for (int l = 0; l < slice_rows; ++l) {
      T sum[B] = {};
      for (std::int64_t k = rest_start_[s * slice_rows + l]; k < rest_start_[s * slice_rows + l + 1]; ++k) {
        const T* from = x + rest_column_[k];
        const T* block = &rest_value_[k * bb];
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c) sum[r] += block[r * B + c] * from[c * shape_.stride];
      }
      for (int r = 0; r < B; ++r) more[r][l] = sum[r];
    }
    for (int r = 0; r < B; ++r) sums[r] += load_slice<T>(more[r]);
  }

  Shape shape_;
  std::int32_t rows_ = 0;
  Array<std::int64_t> run_start_;    // of each slice
  Array<std::int32_t> run_column_;   // place of the first row's node
  Array<T> run_value_;               // [run][unknown, unknown][row]
  Array<std::int64_t> rest_start_;   // of each row
  Array<std::int32_t> rest_column_;  // place
  Array<T> rest_value_;
};

/// A rectangular matrix between two grids, as compressed sparse rows of blocks.
template <int B, class T>
class Transfer {
 public:
  Transfer() = default;
  /// Row i of `a` gives node `nodes[i]` of a vector of the shape `to`, or node i where `nodes` is empty;
  /// columns are nodes of vectors of the shape `from`.
  Transfer(BlockCsr<B, T> a, const Shape& to, const Shape& from, Array<std::int32_t> nodes = {})
      : to_stride_(to.stride), from_stride_(from.stride), matrix_(std::move(a)), place_(std::move(nodes)) {
    parallel_for(matrix_.blocks(),
                 [&](std::int64_t k) { matrix_.column[k] = from.place(matrix_.column[k]); });
    for (std::int32_t& node : place_) node = to.place(node);
  }

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(8 * matrix_.row_start.size() + 4 * matrix_.column.size() +
                                     sizeof(T) * matrix_.value.size());
  }

  /// y = A x, or y += A x
  template <bool Add>
  void multiply(const T* x, T* y) const {
    parallel_ranges(matrix_.rows, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        T sum[B] = {};
        add_row(i, x, sum);
        const std::int64_t place = place_.empty() ? i : place_[i];
        for (int r = 0; r < B; ++r) {
          T& target = y[r * to_stride_ + place];
          target = Add ? target + sum[r] : sum[r];
        }
      }
    });
  }

 private:
  static constexpr int lanes = 4;  // sums that grow at the same time, as an addition takes that long

  [[gnu::always_inline]] void add_block(std::int64_t k, const T* x, T* sum) const {
    const T* element = x + matrix_.column[k];
    const T* block = matrix_.block(k);
    for (int r = 0; r < B; ++r)
      for (int c = 0; c < B; ++c) sum[r] += block[r * B + c] * element[c * from_stride_];
  }

  [[gnu::always_inline]] void add_row(std::int64_t i, const T* x, T* sum) const {
    std::int64_t k = matrix_.row_start[i];
    const std::int64_t end = matrix_.row_start[i + 1];
    if (end - k >= std::int64_t{2} * lanes) {
      T parts[lanes][B] = {};
      for (; k + lanes <= end; k += lanes)
        for (int l = 0; l < lanes; ++l) add_block(k + l, x, parts[l]);
      for (int r = 0; r < B; ++r) sum[r] = (parts[0][r] + parts[1][r]) + (parts[2][r] + parts[3][r]);
    }
    for (; k < end; ++k) add_block(k, x, sum);
  }

  std::int64_t to_stride_ = 0;
  std::int64_t from_stride_ = 0;
  BlockCsr<B, T> matrix_;
  Array<std::int32_t> place_;
};

}  // namespace ayatori::solvers::amg
