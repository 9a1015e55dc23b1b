#include "ayatori/eigen/reduction/bulge_chasing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ayatori::eigen {

namespace {

constexpr int reflector_tag = 1;
constexpr int column_tag = 2;
constexpr std::int64_t panel_columns = 64;  // vectors that are transformed together: what stays in cache

/// Makes v (its first element is 1) of x, and tau: (I - tau v v^T) x = beta e. Gives beta, which takes the
/// place of x's first element; the others become zero.
template <class T>
T make_reflector(T* x, std::int64_t length, T* v, T& tau) {
  T square = 0;
  for (std::int64_t i = 1; i < length; ++i) square += x[i] * x[i];
  v[0] = 1;
  if (square <= negligible_square<T>) {
    tau = 0;
    std::fill(v + 1, v + length, T{0});
    std::fill(x + 1, x + length, T{0});
    return x[0];
  }
  const T alpha = x[0];
  const T beta = -std::copysign(std::sqrt(alpha * alpha + square), alpha);
  const T scale = 1 / (alpha - beta);
  for (std::int64_t i = 1; i < length; ++i) v[i] = x[i] * scale;
  std::fill(x + 1, x + length, T{0});
  tau = (beta - alpha) / beta;
  x[0] = beta;
  return beta;
}

/// One rank's part of the chase.
template <class T>
class Pipeline {
 public:
  Pipeline(const comm::Comm& comm, const BandOf<T>& band, bool vectors);
  ChaseOf<T> run();

 private:
  void begin_sweep(std::int64_t s);
  void sweep(std::int64_t s);
  void step(std::int64_t s, std::int64_t k);
  void two_sided(std::int64_t first, std::int64_t length);
  void chase_bulge(std::int64_t first, std::int64_t length, std::int64_t next, std::int64_t height);
  void keep_reflector(std::int64_t length);
  struct Outgoing {
    std::vector<T> data;
    comm::Request request;
  };
  void send(Outgoing& outgoing, int to, int tag);

  /// Column j from the diagonal on; with element (i, j) at column(j)[i - j], a block below the diagonal is
  /// one of leading dimension 2 width - 1.
  T* column(std::int64_t j) { return band_.data() + j * leading_; }

  const comm::Comm& comm_;
  ChaseOf<T> result_;
  bool keep_;
  Range mine_;
  std::int64_t leading_;
  Array<T> band_;  ///< 2 width x n
  std::vector<T> v_, next_v_, work_, incoming_;
  T tau_ = 0;
  T* kept_ = nullptr;
  Outgoing reflector_;  ///< to the right neighbour: tau, and what is in v_
  Outgoing column_;     ///< to the left neighbour
};

template <class T>
Pipeline<T>::Pipeline(const comm::Comm& comm, const BandOf<T>& band, bool vectors)
    : comm_(comm),
      result_{{std::vector<T>(band.n, T{0}), std::vector<T>(std::max<std::int64_t>(band.n - 1, 0)), {}},
              ChaseLayout(band.n, band.width, comm.size()),
              {}},
      keep_(vectors),
      mine_(result_.layout.steps_of(comm.rank())),
      leading_(2 * band.width),
      band_(band.n * leading_, T{0}),
      v_(band.width),
      next_v_(band.width),
      work_(band.width),
      incoming_(band.width + 1),
      reflector_{std::vector<T>(band.width + 1), {}},
      column_{std::vector<T>(leading_), {}} {
  for (std::int64_t j = 0; j < band.n; ++j) std::copy_n(band.column(j), band.width + 1, column(j));
  if (!vectors) return;
  const ChaseLayout& layout = result_.layout;
  result_.reflectors.resize(layout.count_steps(comm.rank(), {0, layout.sweeps()}) * band.width);
  kept_ = result_.reflectors.data();
}

/// The diagonal block at `first`: H D H, of which the lower triangle is kept.
template <class T>
void Pipeline<T>::two_sided(std::int64_t first, std::int64_t length) {
  if (tau_ == 0) return;
  const T* const v = v_.data();
  T* const w = work_.data();
  std::fill_n(w, length, T{0});
  for (std::int64_t j = 0; j < length; ++j) {
    const T* const d = column(first + j) - j;
    T sum = d[j] * v[j];
    const T factor = v[j];
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = j + 1; i < length; ++i) {
      w[i] += d[i] * factor;
      sum += d[i] * v[i];
    }
    w[j] += sum;
  }
  T product = 0;
#pragma omp simd reduction(+ : product)
  for (std::int64_t i = 0; i < length; ++i) product += w[i] * v[i];
  const T half = T{0.5} * tau_ * product;
#pragma omp simd
  for (std::int64_t i = 0; i < length; ++i) w[i] = tau_ * (w[i] - half * v[i]);
  for (std::int64_t j = 0; j < length; ++j) {
    T* const d = column(first + j) - j;
    const T v_j = v[j];
    const T w_j = w[j];
#pragma omp simd
    for (std::int64_t i = j; i < length; ++i) d[i] -= v[i] * w_j + w[i] * v_j;
  }
}

/// The block of rows from `next` and columns from `first`: H from the right, which fills it; then the next
/// reflector, which takes away its first column but for one element, from the left.
template <class T>
void Pipeline<T>::chase_bulge(std::int64_t first, std::int64_t length, std::int64_t next,
                              std::int64_t height) {
  const auto block = [&](std::int64_t j) { return column(first + j) + (next - first - j); };
  T* const w = work_.data();
  if (tau_ != 0) {
    std::fill_n(w, height, T{0});
    for (std::int64_t j = 0; j < length; ++j) {
      const T* const b = block(j);
      const T factor = tau_ * v_[j];
#pragma omp simd
      for (std::int64_t i = 0; i < height; ++i) w[i] += b[i] * factor;
    }
  }
  const auto from_right = [&](T* b, std::int64_t j) {
    if (tau_ == 0) return;
    const T v_j = v_[j];
#pragma omp simd
    for (std::int64_t i = 0; i < height; ++i) b[i] -= w[i] * v_j;
  };
  T next_tau = 0;
  from_right(block(0), 0);
  T* const v = next_v_.data();
  make_reflector(block(0), height, v, next_tau);
  for (std::int64_t j = 1; j < length; ++j) {
    T* const b = block(j);
    from_right(b, j);
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < height; ++i) sum += b[i] * v[i];
    sum *= next_tau;
#pragma omp simd
    for (std::int64_t i = 0; i < height; ++i) b[i] -= sum * v[i];
  }
  tau_ = next_tau;
  std::swap(v_, next_v_);
}

template <class T>
void Pipeline<T>::keep_reflector(std::int64_t length) {
  if (!keep_) return;
  const std::int64_t width = result_.layout.width;
  kept_[0] = tau_;
  std::copy_n(v_.data() + 1, length - 1, kept_ + 1);
  std::fill(kept_ + length, kept_ + width, T{0});
  kept_ += width;
}

/// Step k, with its reflector in v_; leaves that of the next step there.
template <class T>
void Pipeline<T>::step(std::int64_t s, std::int64_t k) {
  const ChaseLayout& layout = result_.layout;
  const std::int64_t first = layout.row(s, k);
  const std::int64_t length = std::min(layout.width, layout.n - first);
  keep_reflector(length);
  two_sided(first, length);
  const std::int64_t next = first + length;
  if (next < layout.n) chase_bulge(first, length, next, std::min(layout.width, layout.n - next));
}

/// Each message's buffer is used once per sweep, and what was sent in the last one has arrived since.
template <class T>
void Pipeline<T>::send(Outgoing& outgoing, int to, int tag) {
  outgoing.request = comm_.isend(std::span<const T>(outgoing.data), to, tag);
}

/// The reflector of this rank's first step: of column s, or the left neighbour's.
template <class T>
void Pipeline<T>::begin_sweep(std::int64_t s) {
  const ChaseLayout& layout = result_.layout;
  if (comm_.rank() == 0) {
    make_reflector(column(s) + 1, std::min(layout.width, layout.n - s - 1), v_.data(), tau_);
    result_.tridiagonal.diagonal[s] = column(s)[0];
    result_.tridiagonal.off_diagonal[s] = column(s)[1];
    return;
  }
  comm_.recv(std::span<T>(incoming_), comm_.rank() - 1, reflector_tag);
  tau_ = incoming_[0];
  std::copy(incoming_.begin() + 1, incoming_.end(), v_.begin());
}

template <class T>
void Pipeline<T>::sweep(std::int64_t s) {
  const ChaseLayout& layout = result_.layout;
  const int rank = comm_.rank();
  const Range steps = layout.steps_of(rank, s);
  if (steps.empty()) return;
  const auto right_works = [&](std::int64_t in) {
    return rank + 1 < layout.active && !layout.steps_of(rank + 1, in).empty();
  };
  begin_sweep(s);
  for (std::int64_t k = steps.begin; k < steps.end; ++k) {
    if (k + 1 == mine_.end && s > 0 && right_works(s - 1)) {
      const std::span<T> new_column(column(layout.row(s - 1, mine_.end)), leading_);
      comm_.recv(new_column, rank + 1, column_tag);
    }
    step(s, k);
    if (k == steps.begin && rank > 0 && s + 1 < layout.sweeps()) {
      column_.request.wait();
      std::copy_n(column(layout.row(s, k)), leading_, column_.data.begin());
      send(column_, rank - 1, column_tag);
    }
  }
  if (!right_works(s)) return;
  reflector_.request.wait();
  reflector_.data[0] = tau_;
  std::ranges::copy(v_, reflector_.data.begin() + 1);
  send(reflector_, rank + 1, reflector_tag);
}

template <class T>
ChaseOf<T> Pipeline<T>::run() {
  const ChaseLayout& layout = result_.layout;
  auto& [diagonal, off_diagonal, tau] = result_.tridiagonal;
  for (std::int64_t s = 0; s < layout.sweeps(); ++s) sweep(s);
  reflector_.request.wait();
  column_.request.wait();
  for (std::int64_t j = layout.sweeps(); j < layout.n; ++j) {
    diagonal[j] = column(j)[0];
    if (j + 1 < layout.n) off_diagonal[j] = column(j)[1];
  }
  if (layout.sweeps() > 0) {
    comm_.broadcast(std::span<T>(diagonal), 0);
    comm_.broadcast(std::span<T>(off_diagonal), 0);
  }
  return std::move(result_);
}

/// The reflectors of one step of several sweeps, as I - v u^T with u^T = T V^T; v and u are height x sweeps.
template <class T>
struct Diamond {
  std::int64_t row = 0;
  std::int64_t height = 0;
  std::int64_t sweeps = 0;
  Array<T> v, u;
};

/// Reflectors of `sweeps`, of all ranks: where those of sweep s, step k stand.
template <class T>
class Group {
 public:
  /// Collective. `mine` are this rank's.
  Group(const comm::Comm& comm, const ChaseLayout& layout, Range sweeps, const T* mine);
  Diamond<T> diamond(std::int64_t step) const;

 private:
  const ChaseLayout& layout_;
  Range sweeps_;
  Array<T> gathered_;
  std::vector<std::vector<const T*>> places_;  ///< by sweep and step; a rank has the same ones in order
};

template <class T>
Group<T>::Group(const comm::Comm& comm, const ChaseLayout& layout, Range sweeps, const T* mine)
    : layout_(layout), sweeps_(sweeps), places_(sweeps.size()) {
  const std::int64_t width = layout_.width;
  std::vector<std::int64_t> counts(comm.size());
  std::vector<std::int64_t> offsets(comm.size(), 0);
  for (int r = 0; r < comm.size(); ++r) {
    counts[r] = layout_.count_steps(r, sweeps) * width;
    if (r > 0) offsets[r] = offsets[r - 1] + counts[r - 1];
  }
  const T* all = mine;
  if (comm.size() > 1) {
    gathered_.resize(offsets.back() + counts.back());
    comm.collectives().allgatherv(comm, mine, counts[comm.rank()], gathered_.data(), counts, offsets,
                                  comm::data_type_of<T>());
    all = gathered_.data();
  }
  for (int r = 0; r < comm.size(); ++r) {
    const T* next = all + offsets[r];
    for (std::int64_t s = sweeps.begin; s < sweeps.end; ++s) {
      for (std::int64_t k = 0; k < layout_.steps_of(r, s).size(); ++k, next += width)
        places_[s - sweeps.begin].push_back(next);
    }
  }
}

template <class T>
Diamond<T> Group<T>::diamond(std::int64_t step) const {
  const std::int64_t row = layout_.row(sweeps_.begin, step);
  const std::int64_t count = std::min(sweeps_.size(), layout_.n - row);
  const std::int64_t height = std::min(layout_.width + count - 1, layout_.n - row);
  Diamond<T> result{row, height, count, Array<T>(height * count, T{0}), {}};
  Array<T> t(count * count);
  std::vector<T> tau(count);
  for (std::int64_t c = 0; c < count; ++c) {
    const T* const kept = places_[c][step];
    T* const v = result.v.data() + c * height + c;
    tau[c] = kept[0];
    v[0] = 1;
    std::copy_n(kept + 1, std::min(layout_.width, height - c) - 1, v + 1);
  }
  const ConstBlockOf<T> v{result.v.data(), height, count, height};
  const BlockOf<T> of_t{t.data(), count, count, count};
  block_reflector<T>(v, tau.data(), of_t);
  result.u = result.v;
  multiply_upper_triangular<T>(Side::right, Op::none, of_t, {result.u.data(), height, count, height});
  return result;
}

}  // namespace

ChaseLayout::ChaseLayout(std::int64_t order, std::int64_t diagonals, int ranks) : n(order), width(diagonals) {
  if (sweeps() > 0) active = static_cast<int>(std::min<std::int64_t>(ranks, steps(0)));
}

Range ChaseLayout::steps_of(int rank) const {
  if (sweeps() == 0 || rank >= active) return {};
  return split_evenly(steps(0), active, rank);
}

Range ChaseLayout::steps_of(int rank, std::int64_t sweep) const {
  const Range all = steps_of(rank);
  const std::int64_t end = std::max(all.begin, std::min(all.end, steps(sweep)));
  return {all.begin, end};
}

std::int64_t ChaseLayout::count_steps(int rank, Range sweeps) const {
  std::int64_t sum = 0;
  for (std::int64_t s = sweeps.begin; s < sweeps.end; ++s) sum += steps_of(rank, s).size();
  return sum;
}

template <class T>
ChaseOf<T> chase(const comm::Comm& comm, const BandOf<T>& band, bool vectors) {
  return Pipeline<T>(comm, band, vectors).run();
}

template <class T>
void apply_chase(const comm::Comm& comm, const ChaseOf<T>& chase, Mutable<T> z) {
  const ChaseLayout& layout = chase.layout;
  const std::int64_t width = layout.width;
  const std::int64_t groups = (layout.sweeps() + width - 1) / width;
  Array<T> product(width * panel_columns);
  std::vector<Diamond<T>> diamonds;
  const T* mine = chase.reflectors.data() + chase.reflectors.size();
  for (std::int64_t g = groups - 1; g >= 0; --g) {
    const Range sweeps{g * width, std::min((g + 1) * width, layout.sweeps())};
    mine -= layout.count_steps(comm.rank(), sweeps) * width;
    const Group<T> group(comm, layout, sweeps, mine);
    diamonds.clear();
    for (std::int64_t k = 0; k < layout.steps(sweeps.begin); ++k) diamonds.push_back(group.diamond(k));
    for (std::int64_t begin = 0; begin < z.columns; begin += panel_columns) {
      const std::int64_t columns = std::min(panel_columns, z.columns - begin);
      for (const Diamond<T>& diamond : diamonds) {
        const BlockOf<T> target{z.data + begin * z.leading + diamond.row, diamond.height, columns, z.leading};
        const BlockOf<T> w{product.data(), diamond.sweeps, columns, diamond.sweeps};
        multiply<T>(1, Op::transpose, {diamond.v.data(), diamond.height, diamond.sweeps, diamond.height},
                    Op::none, target, 0, w);
        multiply<T>(-1, Op::none, {diamond.u.data(), diamond.height, diamond.sweeps, diamond.height},
                    Op::none, w, 1, target);
      }
    }
  }
}

template ChaseOf<double> chase(const comm::Comm& comm, const BandOf<double>& band, bool vectors);
template void apply_chase(const comm::Comm& comm, const ChaseOf<double>& chase, BlockOf<double> z);
template ChaseOf<float> chase(const comm::Comm& comm, const BandOf<float>& band, bool vectors);
template void apply_chase(const comm::Comm& comm, const ChaseOf<float>& chase, BlockOf<float> z);

}  // namespace ayatori::eigen
