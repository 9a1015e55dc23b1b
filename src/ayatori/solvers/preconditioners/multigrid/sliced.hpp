#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/multigrid/block_csr.hpp"
#include "ayatori/solvers/preconditioners/multigrid/half.hpp"
#include "ayatori/solvers/preconditioners/multigrid/slice.hpp"

// Matrices of the hierarchy as its cycles read them: values of type T, for instance float, which is enough
// for a preconditioner and moves half the bytes.

namespace ayatori::solvers::amg {

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

/// The first run of a slice, and the first block outside of runs.
struct SliceStart {
  std::int64_t run = 0;
  std::int64_t rest = 0;
};

/// A matrix of blocks in slices of 16 rows cut along diagonals, like the kernel run-sell: a run is 16 blocks
/// and the column of the first, and multiplies 16 neighbouring nodes, loaded, not gathered. What fills less
/// than half of a run is kept beside. Vectors are of T, values are stored as V. Traffic: (16 B^2 sizeof(V) +
/// 4) per run, B^2 sizeof(V) + 5 per block outside, 16 bytes per slice.
template <int B, class T, class V = T>
class Sliced {
  static constexpr bool is_less_identity = std::is_same_v<V, Half>;

 public:
  Sliced() = default;
  Sliced(const BlockCsr<B>& a, const Shape& shape) requires std::is_same_v<V, T> : shape_(shape) {
    lay_out(a);
    parallel_for(slices(), [&](std::int64_t s) {
      fill(
          a, s,
          [&](std::int64_t run, const Places& places, std::uint32_t lanes) {
            T* values = &run_value_[run * run_entries];
            if (lanes != all_lanes) std::fill_n(values, run_entries, T{});
            for_each_lane(lanes, [&](int l) {
              for (int v = 0; v < bb; ++v) values[v * slice_rows + l] = static_cast<T>(a.block(places[l])[v]);
            });
          },
          [&](std::int64_t rest, std::int64_t place) {
            for (int v = 0; v < bb; ++v) rest_value_[rest * bb + v] = static_cast<T>(a.block(place)[v]);
          });
    });
  }

  /// In halves, for one unknown per node and a diagonal of about 1, which is left out: in its place stands
  /// what makes up for the rounding of its row, so that the product with the vector `kept` (of this shape)
  /// stays. That is at most 2^-8, so its own rounding is below 2^-19 of the diagonal. See fits().
  Sliced(const BlockCsr<B>& a, const Shape& shape, std::span<const double> kept) requires is_less_identity
      : shape_(shape) {
    static_assert(B == 1);
    lay_out(a);
    std::atomic<bool> fits = true;
    parallel_for(slices(), [&](std::int64_t s) {
      if (!round_slice(a, s, kept)) fits = false;
    });
    fits_ = fits;
  }

  /// Whether halves do: not if what makes up for the rounding is larger, or an element is above 2.
  bool fits() const { return fits_; }

  std::int64_t slices() const { return shape_.padded / slice_rows; }
  const Shape& shape() const { return shape_; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(SliceStart) * start_.size() + 4 * run_column_.size() +
                                     5 * rest_column_.size() +
                                     sizeof(V) * (run_value_.size() + rest_value_.size()));
  }

  /// Calls use(s, sums) for every slice, sums[c] being unknown c of the product with x in its rows.
  template <class Use>
  void multiply(const T* x, Use&& use) const {
    parallel_ranges(slices() * slice_rows, [&](Range rows) {
      const Range range{(rows.begin + slice_rows - 1) / slice_rows, (rows.end + slice_rows - 1) / slice_rows};
      for (std::int64_t s = range.begin; s < range.end; ++s) {
        Slice<T> sums[B] = {};
        const V* value = run_value_.data() + start_[s].run * run_entries;
        for (std::int64_t run = start_[s].run; run < start_[s + 1].run; ++run) {
          const T* from = x + run_column_[run];
          Slice<T> element[B];
          for (int c = 0; c < B; ++c) element[c] = load_slice(from + c * shape_.stride);
          for (int r = 0; r < B; ++r)
            for (int c = 0; c < B; ++c, value += slice_rows) sums[r] += load_slice(value) * element[c];
        }
        if (start_[s].rest < start_[s + 1].rest) add_rest(x, s, sums);
        if constexpr (is_less_identity)
          sums[0] = load_slice(x + s * slice_rows) + (1 / stored_unit) * sums[0];
        use(s, sums);
      }
    });
  }

 private:
  static constexpr T stored_unit = is_less_identity ? 32768 : 1;
  static constexpr int bb = B * B;
  static constexpr int run_entries = bb * slice_rows;
  static constexpr int least_run = slice_rows / 2;
  static constexpr std::uint32_t all_lanes = (1U << slice_rows) - 1;
  using Places = std::int64_t[slice_rows];

  /// Diagonals of the matrix are runs anyway.
  bool is_run(std::int64_t s, std::int64_t first, int count) const {
    return (count >= least_run || first == s * slice_rows) && first >= 0 &&
           first + slice_rows <= shape_.stride;
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
      next[l] = i < shape_.own ? a.row_start[i] : 0;
      end[l] = i < shape_.own ? a.row_start[i + 1] : 0;
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

  template <class F>
  static void for_each_lane(std::uint32_t lanes, F&& f) {
    for (; lanes != 0; lanes &= lanes - 1) f(__builtin_ctz(lanes));
  }

  void lay_out(const BlockCsr<B>& a) {
    const std::int64_t slices = this->slices();
    start_.assign(slices + 1, {});
    parallel_for(slices, [&](std::int64_t s) {
      for_each_diagonal(a, s, [&](std::int64_t first, int count, const Places&, std::uint32_t) {
        if (is_run(s, first, count)) {
          ++start_[s + 1].run;
        } else {
          start_[s + 1].rest += count;
        }
      });
    });
    for (std::int64_t s = 0; s < slices; ++s) {
      start_[s + 1].run += start_[s].run;
      start_[s + 1].rest += start_[s].rest;
    }
    run_column_.resize(start_.back().run);
    run_value_.resize(start_.back().run * run_entries);
    rest_column_.resize(start_.back().rest);
    rest_lane_.resize(start_.back().rest);
    rest_value_.resize(start_.back().rest * bb);
  }

  /// Calls store_run(run, places, lanes) and store_rest(k, place) for the runs of slice s, and the blocks
  /// outside, whose columns it sets.
  template <class StoreRun, class StoreRest>
  void fill(const BlockCsr<B>& a, std::int64_t s, StoreRun&& store_run, StoreRest&& store_rest) {
    std::int64_t run = start_[s].run;
    std::int64_t rest = start_[s].rest;
    for_each_diagonal(a, s, [&](std::int64_t first, int count, const Places& places, std::uint32_t lanes) {
      if (is_run(s, first, count)) {
        run_column_[run] = static_cast<std::int32_t>(first);
        store_run(run++, places, lanes);
        return;
      }
      for_each_lane(lanes, [&](int l) {
        rest_column_[rest] = static_cast<std::int32_t>(first + l);
        rest_lane_[rest] = static_cast<std::uint8_t>(l);
        store_rest(rest++, places[l]);
      });
    });
  }

  void add_rest(const T* x, std::int64_t s, Slice<T>* sums) const {
    T more[B][slice_rows] = {};
    for (std::int64_t k = start_[s].rest; k < start_[s + 1].rest; ++k) {
      const T* from = x + rest_column_[k];
      const V* block = &rest_value_[k * bb];
      for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c)
          more[r][rest_lane_[k]] += value_of(block[r * B + c]) * from[c * shape_.stride];
    }
    for (int r = 0; r < B; ++r) sums[r] += load_slice<T>(more[r]);
  }

  static T value_of(V stored) {
    if constexpr (is_less_identity) {
      return to_float(stored);
    } else {
      return stored;
    }
  }

  /// Gives whether all of it fits.
  bool round_slice(const BlockCsr<B>& a, std::int64_t s, std::span<const double> kept) {
    constexpr double most = 0x1p-8;
    double lost[slice_rows] = {};
    double diagonal[slice_rows] = {};
    Half* makes_up = nullptr;
    bool fits = true;
    const auto look = [&](T exact, T stored, std::int64_t column, int l) {
      fits = fits & (std::abs(exact) * stored_unit <= largest_half);
      lost[l] += static_cast<double>(exact - stored / stored_unit) * kept[column];
    };
    fill(
        a, s,
        [&](std::int64_t run, const Places& places, std::uint32_t lanes) {
          Half* rounded = &run_value_[run * slice_rows];
          const std::int64_t column = run_column_[run];
          if (column == s * slice_rows) {
            for_each_lane(lanes, [&](int l) { diagonal[l] = *a.block(places[l]); });
            makes_up = std::fill_n(rounded, slice_rows, Half{}) - slice_rows;
            return;
          }
          T exact[slice_rows] = {};
          T stored[slice_rows];
          for_each_lane(lanes, [&](int l) { exact[l] = static_cast<T>(*a.block(places[l])); });
          store_slice(rounded, stored_unit * load_slice<T>(exact));
          store_slice<T>(stored, load_slice(rounded));
          for (int l = 0; l < slice_rows; ++l) look(exact[l], stored[l], column + l, l);
        },
        [&](std::int64_t rest, std::int64_t place) {
          const T exact = static_cast<T>(*a.block(place));
          rest_value_[rest] = to_half(exact * stored_unit);
          look(exact, to_float(rest_value_[rest]), rest_column_[rest], rest_lane_[rest]);
        });
    const std::int64_t rows = std::min<std::int64_t>(shape_.own - s * slice_rows, slice_rows);
    for (std::int64_t l = 0; l < rows; ++l) {
      double excess = diagonal[l] - 1;
      if (lost[l] != 0) excess += lost[l] / kept[s * slice_rows + l];
      if (makes_up == nullptr || !(std::abs(excess) <= most)) return false;
      makes_up[l] = to_half(static_cast<T>(excess) * stored_unit);
    }
    return fits;
  }

  Shape shape_;
  Array<SliceStart> start_;          // start of each slice
  Array<std::int32_t> run_column_;   // place of the first row's node
  Array<V> run_value_;               // [run][unknown, unknown][row]
  Array<std::int32_t> rest_column_;  // place
  Array<std::uint8_t> rest_lane_;    // row of the slice
  Array<V> rest_value_;
  bool fits_ = true;
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
