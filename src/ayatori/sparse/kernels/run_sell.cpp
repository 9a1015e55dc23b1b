#include "ayatori/sparse/kernels/run_sell.hpp"

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/merge_rows.hpp"
#include "ayatori/sparse/kernels/padding.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "run-sell";

std::int64_t slices_of(std::int64_t rows) {
  return (rows + lanes - 1) / lanes;
}

std::int64_t bytes_of(std::int64_t rows, std::int64_t runs, std::int64_t outside) {
  return 8 * (slices_of(rows) + 1) + (8 * lanes + 4) * runs + 16 * outside;
}

/// Where each slice begins among the runs, and among the entries outside them.
struct Layout {
  std::vector<std::int64_t> run;
  std::vector<std::int64_t> outside;
};

Layout lay_out(const Csr& matrix) {
  const std::int64_t slices = slices_of(matrix.rows);
  std::vector<std::int64_t> runs(slices, 0);
  std::vector<std::int64_t> outside(slices, 0);
  parallel_for(slices, [&](std::int64_t s) {
    for_each_diagonal(matrix, s * lanes, [&](std::int64_t first_column, std::span<const RowEntry> entries) {
      if (is_run(matrix, first_column, entries)) {
        ++runs[s];
      } else {
        outside[s] += static_cast<std::int64_t>(entries.size());
      }
    });
  });
  return {starts_of(runs), starts_of(outside)};
}

/// The places of both kinds together.
std::vector<std::int64_t> work_of(const Layout& layout) {
  std::vector<std::int64_t> work(layout.run.size());
  for (std::size_t s = 0; s < work.size(); ++s) work[s] = lanes * layout.run[s] + layout.outside[s];
  return work;
}

/// Slices of 8 neighbouring rows cut along diagonals: a run is 8 values and the column of the first, and
/// multiplies 8 neighbouring elements of x, loaded, not gathered. What fills less than half of a run, or
/// would leave x, is kept beside the runs, entry by entry. On a regular grid nearly every entry of a stencil
/// is in a run. Traffic: 8.5 bytes per place in a run, 16 per entry outside (4 less each in
/// single precision), 1 per row.
template <class Real>
class RunSell final : public KernelOf<Real> {
 public:
  RunSell(const Csr& matrix, double scale, const Layout& layout, Simd simd)
      : simd_(simd),
        groups_(work_of(layout)),
        run_start_(layout.run.size()),
        run_column_(layout.run.back()),
        run_value_(layout.run.back() * lanes),
        outside_start_(groups_.size() + 1, layout.outside.back()),
        row_(layout.outside.back()),
        column_(layout.outside.back()),
        value_(layout.outside.back()) {
    run_start_[0] = 0;
    groups_.for_each([&](int group, Range slices) {
      outside_start_[group] = layout.outside[slices.begin];
      for (std::int64_t s = slices.begin; s < slices.end; ++s) {
        run_start_[s + 1] = layout.run[s + 1];
        fill(matrix, scale, s, layout.run[s], layout.outside[s]);
      }
    });
    rows_ = matrix.rows;
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    groups_.for_each([&](int group, Range slices) {
      std::int64_t entry = outside_start_[group];
      const auto add_outside = [&](Range part) {
        for (; entry < outside_start_[group + 1] && row_[entry] < part.end * lanes; ++entry)
          y[row_[entry]] += value_[entry] * x[column_[entry]];
      };
      with_simd(
          simd_, [&]<int Width>() __attribute__((always_inline)) {
            multiply_padded(
                slices, slices_at_once,
                [&](Range part) __attribute__((always_inline)) {
                  return multiply_runs<width_of<Real, Width, lanes>>(part, x.data(), y.data());
                },
                [&](Range part) { multiply_runs_carefully(part, x.data(), y.data()); }, add_outside);
          });
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(8 * run_start_.size() + 4 * run_column_.size() +
                                     sizeof(Real) * run_value_.size() + (8 + sizeof(Real)) * value_.size());
  }

 private:
  static constexpr std::int64_t slices_at_once = 64;  // their piece of y stays in the first cache

  void fill(const Csr& matrix, double scale, std::int64_t slice, std::int64_t run, std::int64_t outside) {
    for_each_diagonal(matrix, slice * lanes,
                      [&](std::int64_t first_column, std::span<const RowEntry> entries) {
                        if (!is_run(matrix, first_column, entries)) {
                          for (const RowEntry& e : entries) {
                            row_[outside] = static_cast<std::int32_t>(slice * lanes + e.lane);
                            column_[outside] = static_cast<std::int32_t>(first_column + e.lane);
                            value_[outside++] = static_cast<Real>(scale * matrix.value[e.position]);
                          }
                          return;
                        }
                        Real* values = &run_value_[run * lanes];
                        std::fill(values, values + lanes, Real(0));
                        for (const RowEntry& e : entries)
                          values[e.lane] = static_cast<Real>(scale * matrix.value[e.position]);
                        run_column_[run++] = static_cast<std::int32_t>(first_column);
                      });
  }

  /// Returns the sum of 0 y_i over the rows of these slices.
  template <int Width>
  [[gnu::always_inline]] Real multiply_runs(Range slices, const Real* x, Real* y) const {
    constexpr std::int64_t parts = lanes / Width;
    const std::int32_t* column = run_column_.data();
    const Real* value = run_value_.data();
    Vector<Width, Real> finite{};
    std::int64_t run = run_start_[slices.begin];
    for (std::int64_t s = slices.begin; s < slices.end; ++s) {
      Vector<Width, Real> sum[parts] = {};
      for (const std::int64_t end = run_start_[s + 1]; run < end; ++run) {
        for (std::int64_t p = 0; p < parts; ++p) {
          sum[p] += load<Width>(value + run * lanes + p * Width) * load<Width>(x + column[run] + p * Width);
        }
      }
      for (std::int64_t p = 0; p < parts; ++p) finite += Real(0) * sum[p];
      if ((s + 1) * lanes <= rows_) {
        for (std::int64_t p = 0; p < parts; ++p) store<Width>(y + s * lanes + p * Width, sum[p]);
      } else {
        std::memcpy(y + s * lanes, sum, (rows_ - s * lanes) * sizeof(Real));
      }
    }
    return total<Width, Real>(finite);
  }

  void multiply_runs_carefully(Range slices, const Real* x, Real* y) const {
    for (std::int64_t s = slices.begin; s < slices.end; ++s) {
      const std::int64_t count = std::min<std::int64_t>(lanes, rows_ - s * lanes);
      for (std::int64_t lane = 0; lane < count; ++lane) {
        Real sum = 0;
        for (std::int64_t run = run_start_[s]; run < run_start_[s + 1]; ++run)
          sum += product_unless_zero(run_value_[run * lanes + lane], x[run_column_[run] + lane]);
        y[s * lanes + lane] = sum;
      }
    }
  }

  Simd simd_;
  std::int64_t rows_ = 0;
  ThreadGroups groups_;                      // groups of slices
  Array<std::int64_t> run_start_;            // start of each slice
  Array<std::int32_t> run_column_;           // column of the first lane
  Array<Real> run_value_;                    // 8 per run
  std::vector<std::int64_t> outside_start_;  // start of each group
  Array<std::int32_t> row_;                  // row of each entry outside runs
  Array<std::int32_t> column_;
  Array<Real> value_;
};

template <class Real>
std::unique_ptr<KernelOf<Real>> make(const Csr& matrix, double scale, Simd simd) {
  const Layout layout = lay_out(matrix);
  require_bytes(name, bytes_of(matrix.rows, layout.run.back(), layout.outside.back()), matrix);
  return std::make_unique<RunSell<Real>>(matrix, scale, layout, simd);
}

}  // namespace

std::unique_ptr<Kernel> make_run_sell(const Csr& matrix, Simd simd) {
  return make<double>(matrix, 1, simd);
}

std::unique_ptr<FloatKernel> make_float_run_sell(const Csr& matrix, double scale, Simd simd) {
  return make<float>(matrix, scale, simd);
}

const KernelType run_sell_kernel{
    .name = name,
    .description =
        "slices of 8 rows cut along diagonals: neighbouring elements of x are loaded, not gathered",
    .conversion_products = 15,
    .predicted_bytes =
        [](const PatternFacts& facts) {
          return if_not_absurd(bytes_of(facts.rows, facts.runs, facts.outside_runs), facts);
        },
    .indexed_accesses = [](const PatternFacts& facts) { return static_cast<double>(facts.outside_runs); },
    .make = [](const Csr& matrix) { return make_run_sell(matrix, best_simd()); },
    .make_float = [](const Csr& matrix,
                     double scale) { return make_float_run_sell(matrix, scale, best_simd()); }};

}  // namespace ayatori::sparse
