#include "ayatori/solvers/preconditioners/multigrid/hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/dense_solve.hpp"
#include "ayatori/solvers/preconditioners/multigrid/gershgorin.hpp"
#include "ayatori/solvers/preconditioners/multigrid/sliced.hpp"
#include "ayatori/solvers/preconditioners/polynomials/chebyshev.hpp"

namespace ayatori::solvers::amg {

namespace {

constexpr int lanczos_steps = 10;
constexpr double safety = 1.1;

/// Row by row, unknowns of a node one after the other.
template <int B, class V>
sparse::Csr scalar_rows(const BlockCsr<B, V>& a) {
  sparse::Csr rows;
  rows.rows = a.rows * B;
  rows.columns = a.columns * B;
  rows.row_start.resize(std::size_t(rows.rows) + 1);
  rows.column.resize(a.value.size());
  rows.value.resize(a.value.size());
  rows.row_start[0] = 0;
  parallel_for(a.rows, [&](std::int64_t i) {
    const std::int64_t begin = a.row_start[i];
    const std::int64_t length = a.row_start[i + 1] - begin;
    for (int r = 0; r < B; ++r) {
      std::int64_t to = (begin * B + r * length) * B;
      for (std::int64_t k = begin; k < begin + length; ++k) {
        for (int c = 0; c < B; ++c, ++to) {
          rows.column[to] = a.column[k] * B + c;
          rows.value[to] = static_cast<double>(a.block(k)[r * B + c]);
        }
      }
      rows.row_start[i * B + r + 1] = to;
    }
  });
  return rows;
}

/// A grid as the cycle uses it.
template <int B, class T>
class Level {
 public:
  explicit Level(std::unique_ptr<const Layout> layout)
      : layout_(std::move(layout)),
        shape_(layout_->own(), layout_->ghosts()),
        exchange_(*layout_, B, shape_.stride, shape_.padded) {
    for (Array<T>* v : {&b, &x, &step_, &other_}) {
      v->resize(shape_.stride * B);
      parallel_for(shape_.stride * B, [&](std::int64_t i) { (*v)[i] = 0; });
    }
  }

  Array<T> b;  ///< right-hand side
  Array<T> x;  ///< the solution, so far

  const Shape& shape() const { return shape_; }
  const Layout& layout() const { return *layout_; }
  const Array<T>& residual() const { return other_; }
  std::int64_t bytes() const { return matrix_.bytes() + rounded_.bytes(); }
  void fetch(Array<T>& v) { exchange_.fetch(v.data()); }
  void add_back(Array<T>& v) { exchange_.add_back(v.data()); }

  void set_matrix(const BlockCsr<B>& matrix) { matrix_ = {matrix, shape_}; }

  /// Collective. The same in halves if these do on all ranks, else nothing: a perturbation that leaves the
  /// product with the near null space, value [i] for own node i, as it is. Gives whether it did.
  bool set_matrix_in_halves(const BlockCsr<B>& matrix, std::span<const double> near_null) {
    if constexpr (B == 1 && has_half) {
      const comm::Comm& comm = layout_->comm;
      auto kept = comm::agree(comm, [&] {
        Array<double> values(shape_.stride, 0.0);
        std::ranges::copy(near_null, values.begin());
        return values;
      });
      GhostExchange<double>(*layout_, 1, shape_.stride, shape_.padded).fetch(kept.data());
      comm::agree(comm, [&] { rounded_ = {matrix, shape_, kept}; });
      in_halves_ = !comm.any(!rounded_.fits());
      if (!in_halves_) rounded_ = {};
    }
    return in_halves_;
  }

  /// The smoother is the polynomial with these terms.
  void set_smoother(ChebyshevTerms terms) { terms_ = std::move(terms); }

  /// Collective. x = p(A) b. The first two terms are made in one pass: A (first b) = first (A b).
  void smooth_from_zero() {
    const T first = static_cast<T>(terms_.first);
    if (terms_.later.empty()) {
      parallel_for(shape_.stride * B, [&](std::int64_t i) { x[i] = first * b[i]; });
      return;
    }
    const T keep = static_cast<T>(terms_.later.front().keep);
    const T gain = static_cast<T>(terms_.later.front().gain);
    fetch(b);
    multiply(b.data(), [&](std::int64_t s, const Slice<T>* sums) {
      for (int c = 0; c < B; ++c) {
        const std::int64_t at = c * shape_.stride + s * slice_rows;
        const Slice<T> right = load_slice(&b[at]);
        const Slice<T> start = first * right;
        const Slice<T> d = gain * (right - first * sums[c]) + keep * start;
        store_slice<T>(&step_[at], d);
        store_slice<T>(&x[at], start + d);
      }
    });
    // Whoever hands in b counts on its ghosts' being left alone where they are 0.
    for (int c = 0; c < B; ++c)
      std::fill_n(b.data() + c * shape_.stride + shape_.padded, shape_.stride - shape_.padded, T{});
    advance(1);
  }
  /// Collective. x = x + p(A) (b - A x)
  void smooth() {
    step(0, static_cast<T>(terms_.first));
    advance(0);
  }

  /// Collective. residual() = b - A x, until x is smoothed.
  void compute_residual() {
    fetch(x);
    multiply(x.data(), [&](std::int64_t s, const Slice<T>* sums) {
      for (int c = 0; c < B; ++c) {
        const std::int64_t at = c * shape_.stride + s * slice_rows;
        store_slice<T>(&other_[at], load_slice(&b[at]) - sums[c]);
      }
    });
  }

  /// Collective. Largest eigenvalue of A that a few steps of Lanczos see, from a random start, or as soon as
  /// one above `enough` is seen; the vectors are left zero.
  double lanczos(double enough) {
    const std::int64_t first = layout_->first();
    std::vector<double> diagonal;
    std::vector<double> beside;
    Array<T>& v = x;
    Array<T>& w = b;
    Array<T>& previous = other_;
    for_each([&](std::int64_t i, int c, std::int64_t at) {
      w[at] = static_cast<T>(random_uniform(1, (first + i) * B + c) - 0.5);
    });
    double norm = std::sqrt(dot(w, w));
    double seen = 0;
    for (int k = 0; k < lanczos_steps && norm > 0; ++k) {
      const T factor = static_cast<T>(1 / norm);
      for_each(
          [&](std::int64_t, int, std::int64_t at) { previous[at] = std::exchange(v[at], factor * w[at]); });
      fetch(v);
      multiply(v.data(), [&](std::int64_t s, const Slice<T>* sums) {
        for (int c = 0; c < B; ++c) store_slice<T>(&w[c * shape_.stride + s * slice_rows], sums[c]);
      });
      const double alpha = dot(v, w);
      diagonal.push_back(alpha);
      seen = largest_eigenvalue(diagonal, beside);
      if (seen >= enough) break;
      const T back = static_cast<T>(k > 0 ? norm : 0);
      for_each([&](std::int64_t, int, std::int64_t at) {
        w[at] -= static_cast<T>(alpha) * v[at] + back * previous[at];
      });
      norm = std::sqrt(dot(w, w));
      beside.push_back(norm);
      if (!(norm > 1e-4 * std::abs(diagonal[0]))) break;
    }
    for (Array<T>* vector : {&v, &w, &previous}) std::ranges::fill(*vector, T{});
    return seen;
  }

 private:
  template <class F>
  void for_each(F&& f) {
    for (int c = 0; c < B; ++c)
      parallel_for(shape_.own, [&](std::int64_t i) { f(i, c, c * shape_.stride + i); });
  }

  /// As Sliced::multiply().
  template <class Use>
  void multiply(const T* v, Use&& use) const {
    if constexpr (B == 1 && has_half) {
      if (in_halves_) {
        rounded_.multiply(v, use);
        return;
      }
    }
    matrix_.multiply(v, use);
  }

  /// Block by block, so that the sum does not depend on the number of threads.
  double dot(const Array<T>& u, const Array<T>& v) {
    constexpr std::int64_t block = 4096;
    block_sums_.resize((shape_.own + block - 1) / block);
    parallel_ranges(shape_.own, [&](Range range) {
      for (std::int64_t k = (range.begin + block - 1) / block; k * block < range.end; ++k) {
        double sum = 0;
        for (int c = 0; c < B; ++c)
          for (std::int64_t i = k * block; i < std::min<std::int64_t>((k + 1) * block, shape_.own); ++i)
            sum +=
                static_cast<double>(u[c * shape_.stride + i]) * static_cast<double>(v[c * shape_.stride + i]);
        block_sums_[k] = sum;
      }
    });
    const double sum = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
    return layout_->comm.allreduce(sum, comm::ReduceOp::sum);
  }

  /// The later terms from this one on.
  void advance(std::size_t first) {
    for (std::size_t j = first; j < terms_.later.size(); ++j)
      step(static_cast<T>(terms_.later[j].keep), static_cast<T>(terms_.later[j].gain));
  }

  /// step = keep step + gain (b - A x); x = x + step
  void step(T keep, T gain) {
    fetch(x);
    multiply(x.data(), [&](std::int64_t s, const Slice<T>* sums) {
      for (int c = 0; c < B; ++c) {
        const std::int64_t at = c * shape_.stride + s * slice_rows;
        Slice<T> d = gain * (load_slice(&b[at]) - sums[c]);
        if (keep != 0) d += keep * load_slice(&step_[at]);
        store_slice<T>(&step_[at], d);
        store_slice<T>(&other_[at], load_slice(&x[at]) + d);
      }
    });
    std::swap(x, other_);
  }

  std::unique_ptr<const Layout> layout_;
  Shape shape_;
  Sliced<B, T> matrix_;  ///< this, or
  Sliced<1, T, Half> rounded_;
  bool in_halves_ = false;
  GhostExchange<T> exchange_;
  Array<T> step_;
  Array<T> other_;
  Array<double> block_sums_;  ///< sums of dot(), until smoothing begins
  ChebyshevTerms terms_{1, {}};
};

/// A grid that every rank holds whole, below one that is spread.
template <int B>
class Gathering {
 public:
  explicit Gathering(Layout layout) : layout_(std::move(layout)), all_(layout_.partition.rows() * B) {}

  const Layout& layout() const { return layout_; }

  /// Collective. Own values of all ranks, [i * B + c], from those that own(i, c) gives for own nodes.
  template <class Own>
  std::span<const double> gather(Own&& own) {
    std::ranges::fill(all_, 0.0);
    for (std::int64_t i = 0; i < layout_.own(); ++i)
      for (int c = 0; c < B; ++c) all_[(layout_.first() + i) * B + c] = own(i, c);
    if (layout_.comm.size() > 1) layout_.comm.allreduce(std::span<double>(all_), comm::ReduceOp::sum);
    return all_;
  }

 private:
  Layout layout_;
  std::vector<double> all_;
};

template <int B, class T>
class Hierarchy final : public Cycle {
 public:
  Hierarchy(FineGrid<B> finest, const HierarchyOptions& options)
      : options_(options), scale_(std::move(finest.scale)), skipped_(finest.skipped) {
    if (options.parts != nullptr) options.parts->scale = scale_;
    build(std::move(finest.grid));
  }

  const HierarchyFacts& facts() const override { return facts_; }

  void apply(std::span<const double> b, std::span<double> x) override {
    if (levels_.empty()) {
      const auto row = [&](std::int64_t i, int c) { return i * B + c - skipped_; };
      const auto exists = [&](std::int64_t r) {
        return 0 <= r && r < static_cast<std::int64_t>(scale_.size());
      };
      solve_coarsest(
          [&](std::int64_t i, int c) { return exists(row(i, c)) ? scale_[row(i, c)] * b[row(i, c)] : 0; },
          [&](std::int64_t i, int c, double v) {
            if (exists(row(i, c))) x[row(i, c)] = scale_[row(i, c)] * v;
          });
      return;
    }
    auto& top = *levels_.front().level;
    for_each_row(
        [&](std::int64_t row, std::int64_t at) { top.b[at] = static_cast<T>(scale_[row] * b[row]); });
    cycle(0);
    for_each_row(
        [&](std::int64_t row, std::int64_t at) { x[row] = scale_[row] * static_cast<double>(top.x[at]); });
  }

 private:
  /// A level and the way to the next.
  struct Step {
    std::unique_ptr<Level<B, T>> level;
    Transfer<B, T> prolongator;
    Transfer<B, T> restrictor;
    /// The next grid as this one is spread, where that is not as the next level is.
    std::unique_ptr<Layout> spread;
    Shape spread_shape;
    std::optional<GhostExchange<T>> spread_exchange;
    std::optional<Gathering<B>> gathering;
    Array<T> right_side;
    Array<T> correction;
  };

  /// Calls f(row, place in a vector of the finest level) for each of this rank's rows.
  template <class F>
  void for_each_row(F&& f) const {
    const std::int64_t stride = levels_.front().level->shape().stride;
    parallel_for(static_cast<std::int64_t>(scale_.size()), [&](std::int64_t row) {
      const std::int64_t padded = row + skipped_;
      f(row, padded % B * stride + padded / B);
    });
  }

  void check_patience(const comm::Comm& comm) const {
    comm::agree(comm, [&] {
      if (options_.gives_up && options_.gives_up())
        throw EnvironmentError("amg: the set-up takes longer than it may");
    });
  }

  void build(Grid<B> grid) {
    const auto finest_entries = entries(grid);
    std::int64_t all_entries = 0;
    double threshold = options_.threshold;
    std::unique_ptr<Layout> before;  // layout of the grid before it was gathered
    for (int number = 0;; ++number) {
      // A gathered grid is small, and every rank has its own: they must not give up one by one.
      if (facts_.gathered_level < 0) check_patience(grid.layout.comm);
      const std::int64_t unknowns = grid.layout.partition.rows() * B;
      facts_.levels = number + 1;
      facts_.coarsest = unknowns;
      if (number > 0 && unknowns <= std::max(options_.gathered, options_.coarsest) &&
          grid.layout.comm.size() > 1) {
        Grid<B> whole = amg::gather(grid);
        gather_next(grid.layout);
        facts_.gathered_level = number;
        grid = std::move(whole);
      }
      all_entries += entries(grid);
      if (unknowns <= options_.coarsest) {
        make_coarsest(grid);
        break;
      }
      std::optional<Coarsening<B, T>> next;
      auto layout = std::make_unique<const Layout>(grid.layout);
      auto level =
          comm::agree(grid.layout.comm, [&] { return std::make_unique<Level<B, T>>(std::move(layout)); });
      const bool in_halves = number == 0 && options_.halves && grid.pieces == 1 &&
                             level->set_matrix_in_halves(grid.matrix, grid.near_null);
      if (!in_halves) comm::agree(grid.layout.comm, [&] { level->set_matrix(grid.matrix); });
      facts_.in_halves = facts_.in_halves || in_halves;
      const double largest = find_largest(grid, *level);
      level->set_smoother(smoother_for(largest));
      if (number + 1 < options_.most_levels)
        next = coarsen<B, T>(grid, {.threshold = threshold, .largest = largest, .finest = number == 0});
      threshold *= options_.decay;
      levels_.push_back({});
      levels_.back().level = std::move(level);
      if (options_.parts != nullptr) comm::agree(grid.layout.comm, [&] { keep_parts(grid, largest, next); });
      if (!next) {
        facts_.coarsest_is_smoothed = true;
        break;
      }
      comm::agree(grid.layout.comm, [&] { connect(levels_.back(), *next); });
      grid = std::move(next->coarse);
    }
    facts_.operator_complexity =
        finest_entries > 0 ? static_cast<double>(all_entries) / static_cast<double>(finest_entries) : 1;
  }

  static std::int64_t entries(const Grid<B>& grid) {
    return grid.layout.comm.allreduce(grid.matrix.blocks(), comm::ReduceOp::sum);
  }

  /// Collective. An estimate of the largest eigenvalue.
  double find_largest(const Grid<B>& grid, Level<B, T>& level) const {
    const double bound = gershgorin(grid);
    const double largest = bound > 0 ? bound : 1;
    if (!options_.symmetric) return largest;
    const double seen = safety * level.lanczos(bound / safety);
    return seen > 0 && seen < largest ? std::max(seen, 1.0) : largest;
  }

  ChebyshevTerms smoother_for(double largest) const {
    const double damped = 0.75 * largest;
    return options_.symmetric ? chebyshev_terms(largest / options_.interval, largest, options_.degree - 1)
                              : chebyshev_terms(damped, damped, options_.degree - 1);
  }

  void keep_parts(const Grid<B>& grid, double largest, const std::optional<Coarsening<B, T>>& next) const {
    HierarchyParts& parts = *options_.parts;
    parts.levels.push_back({scalar_rows(grid.matrix), {}, {}, smoother_for(largest)});
    if (!next) return;
    if (next->restrictor.rows != next->coarse.layout.own())
      throw InternalError("amg: the parts of a hierarchy are kept on one rank");
    parts.levels.back().prolongator = scalar_rows(next->prolongator);
    parts.levels.back().restrictor = scalar_rows(next->restrictor);
  }

  void connect(Step& step, Coarsening<B, T>& next) {
    const Layout& coarse = next.coarse.layout;
    step.spread = std::make_unique<Layout>(coarse);
    step.spread_shape = Shape(coarse.own(), coarse.ghosts());
    step.spread_exchange.emplace(*step.spread, B, step.spread_shape.stride, step.spread_shape.padded);
    step.prolongator = Transfer<B, T>(std::move(next.prolongator), step.level->shape(), step.spread_shape);
    step.restrictor = Transfer<B, T>(std::move(next.restrictor), step.spread_shape, step.level->shape(),
                                     std::move(next.restrictor_node));
    step.right_side.assign(step.spread_shape.stride * B, T{});
    step.correction.assign(step.spread_shape.stride * B, T{});
  }

  void gather_next(const Layout& spread) { levels_.back().gathering.emplace(spread); }

  void make_coarsest(const Grid<B>& grid) {
    // Redundantly on every rank; before the first coarsening it is still spread.
    const Grid<B> whole = grid.layout.comm.size() > 1 ? amg::gather(grid) : grid;
    if (levels_.empty()) coarsest_gathering_.emplace(grid.layout);
    const std::int64_t n = std::int64_t{whole.matrix.rows} * B;
    std::vector<double> dense(n * n, 0.0);
    for (std::int64_t i = 0; i < whole.matrix.rows; ++i)
      for (std::int64_t k = whole.matrix.row_start[i]; k < whole.matrix.row_start[i + 1]; ++k)
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c)
            dense[(i * B + r) * n + std::int64_t{whole.matrix.column[k]} * B + c] =
                whole.matrix.block(k)[r * B + c];
    coarsest_ = comm::agree(grid.layout.comm, [&] {
      std::vector<std::vector<double>> null_vectors;
      if (options_.singular && whole.pieces == 1) null_vectors = find_null_vectors(dense, whole.near_null, B);
      return DenseInverse(n, std::move(dense), options_.symmetric, null_vectors);
    });
    coarsest_solution_.resize(n);
    if (options_.parts != nullptr)
      comm::agree(grid.layout.comm, [&] { options_.parts->coarsest_inverse = coarsest_->rows(); });
    facts_.coarsest_is_singular = coarsest_->is_singular();
  }

  /// Collective where the whole hierarchy is the coarsest grid.
  template <class Get, class Set>
  void solve_coarsest(Get&& get, Set&& set) {
    auto& spread = *coarsest_gathering_;
    const auto b = spread.gather(get);
    coarsest_->apply(b, coarsest_solution_);
    for (std::int64_t i = 0; i < spread.layout().own(); ++i)
      for (int c = 0; c < B; ++c) set(i, c, coarsest_solution_[(spread.layout().first() + i) * B + c]);
  }

  void cycle(std::size_t l) {
    Step& step = levels_[l];
    auto& level = *step.level;
    level.smooth_from_zero();
    if (!step.spread) {  // the coarsest, and too large to be inverted
      level.smooth();
      return;
    }
    level.compute_residual();
    step.restrictor.template multiply<false>(level.residual().data(), step.right_side.data());
    step.spread_exchange->add_back(step.right_side.data());
    solve_next(l);
    step.prolongator.template multiply<true>(step.correction.data(), level.x.data());
    level.smooth();
  }

  /// correction = the next grid's answer to right_side, with its ghosts.
  void solve_next(std::size_t l) {
    Step& step = levels_[l];
    const Shape& shape = step.spread_shape;
    const bool last = l + 1 == levels_.size();
    if (step.gathering || last) {
      const auto own = [&](std::int64_t i, int c) {
        return static_cast<double>(step.right_side[c * shape.stride + i]);
      };
      if (!step.gathering) step.gathering.emplace(*step.spread);
      const auto all = step.gathering->gather(own);
      std::span<const double> solution = all;
      if (last) {
        coarsest_->apply(all, coarsest_solution_);
        solution = coarsest_solution_;
      } else {
        gathered_solution_.resize(all.size());
        solve_whole(l + 1, all, gathered_solution_);
        solution = gathered_solution_;
      }
      for (std::int32_t i = 0; i < step.spread->all(); ++i)
        for (int c = 0; c < B; ++c)
          step.correction[c * shape.stride + shape.place(i)] =
              static_cast<T>(solution[step.spread->global(i) * B + c]);
      return;
    }
    auto& next = *levels_[l + 1].level;
    std::swap(next.b, step.right_side);
    cycle(l + 1);
    std::swap(next.b, step.right_side);
    next.fetch(next.x);
    std::ranges::copy(next.x, step.correction.begin());
  }

  /// A level that this rank holds whole.
  void solve_whole(std::size_t l, std::span<const double> b, std::span<double> x) {
    auto& level = *levels_[l].level;
    const Shape& shape = level.shape();
    for (std::int64_t i = 0; i < shape.own; ++i)
      for (int c = 0; c < B; ++c) level.b[c * shape.stride + i] = static_cast<T>(b[i * B + c]);
    cycle(l);
    for (std::int64_t i = 0; i < shape.own; ++i)
      for (int c = 0; c < B; ++c) x[i * B + c] = static_cast<double>(level.x[c * shape.stride + i]);
  }

  HierarchyOptions options_;
  Array<double> scale_;  ///< scale of each of this rank's rows
  int skipped_;          ///< unknowns of the first node that do not exist
  HierarchyFacts facts_;
  std::vector<Step> levels_;
  std::optional<DenseInverse> coarsest_;
  std::optional<Gathering<B>> coarsest_gathering_;
  std::vector<double> coarsest_solution_;
  std::vector<double> gathered_solution_;
};

}  // namespace

template <int B, class T>
std::unique_ptr<Cycle> make_hierarchy(FineGrid<B> finest, const HierarchyOptions& options) {
  return std::make_unique<Hierarchy<B, T>>(std::move(finest), options);
}

template std::unique_ptr<Cycle> make_hierarchy<1, float>(FineGrid<1>, const HierarchyOptions&);
template std::unique_ptr<Cycle> make_hierarchy<2, float>(FineGrid<2>, const HierarchyOptions&);
template std::unique_ptr<Cycle> make_hierarchy<3, float>(FineGrid<3>, const HierarchyOptions&);

}  // namespace ayatori::solvers::amg
