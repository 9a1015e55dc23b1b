#include "ayatori/solvers/preconditioners/factored_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/elimination.hpp"
#include "ayatori/solvers/preconditioners/matching.hpp"
#include "ayatori/solvers/preconditioners/reverse_cuthill_mckee.hpp"

namespace ayatori::solvers {

namespace {

/// The largest plausible entry of (L D U)^-1 d; beyond it the triangular solves amplify rounding (Chow & Saad
/// 1997).
constexpr double largest_growth = 1e15;
/// The ladder of shifts: 0, then first_shift * shift_factor^k up to last_shift.
constexpr double first_shift = 1e-3;
constexpr double shift_factor = 2;
constexpr double last_shift = 1.1e3;
/// A diagonal entry this small against what it should be is as good as zero.
constexpr double zero_diagonal = 1e-12;
/// What scaled factors must stay within to be stored in single precision.
constexpr double smallest_float = 1e-30;
constexpr double largest_float = 1e30;

/// How a block is brought into a form that is good to factor: element (i, j) of that form is
/// row_scale[i] a(row_order[i], column_order[j]) column_scale[j].
struct Form {
  Array<std::int32_t> row_order;
  Array<std::int32_t> column_order;
  Array<double> row_scale;
  Array<double> column_scale;
};

bool is_natural(const Array<std::int32_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

sparse::Csr scaled(const sparse::Csr& a, const Form& form) {
  sparse::Csr result = a;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      result.value[k] *= form.row_scale[i] * form.column_scale[a.column[k]];
  return result;
}

sparse::Csr transformed(const sparse::Csr& a, const Form& form) {
  if (is_natural(form.row_order) && is_natural(form.column_order)) return scaled(a, form);
  sparse::Csr result{a.rows, a.rows, Array<std::int64_t>{0}, {}, {}};
  result.column.reserve(a.column.size());
  result.value.reserve(a.value.size());
  Array<std::int32_t> position(a.rows);
  for (std::int32_t j = 0; j < a.rows; ++j) position[form.column_order[j]] = j;
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t from = form.row_order[i];
    row.clear();
    for (std::int64_t k = a.row_start[from]; k < a.row_start[from + 1]; ++k) {
      const std::int32_t j = position[a.column[k]];
      row.emplace_back(j, form.row_scale[i] * a.value[k] * form.column_scale[j]);
    }
    std::ranges::sort(row, {}, &std::pair<std::int32_t, double>::first);
    for (const auto& [j, value] : row) {
      result.column.push_back(j);
      result.value.push_back(value);
    }
    result.row_start.push_back(result.nonzeros());
  }
  return result;
}

Array<std::int32_t> natural_order(std::int32_t n) {
  Array<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The diagonal, and where it is rounding noise the row's largest entry, or 1. In a definite matrix a_ij^2 <=
/// a_ii a_jj: an entry that is far from that beside others is noise, however small its row is.
Array<double> magnitudes(const sparse::Csr& a) {
  Array<double> diagonal(a.rows, 0.0);
  const auto for_each_entry = [&](auto&& f) {
    for (std::int32_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        f(i, a.column[k], std::abs(a.value[k]));
  };
  for_each_entry([&](std::int32_t i, std::int32_t j, double size) {
    if (i == j) diagonal[i] = size;
  });
  Array<double> row_max(a.rows, 0.0);
  Array<double> wanted(a.rows, 0.0);
  for_each_entry([&](std::int32_t i, std::int32_t j, double size) {
    row_max[i] = std::max(row_max[i], size);
    if (diagonal[j] > 0) wanted[i] = std::max(wanted[i], size * (size / diagonal[j]));
  });
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const bool vanishes = diagonal[i] == 0 || diagonal[i] <= zero_diagonal * wanted[i];
    if (vanishes) diagonal[i] = row_max[i] > 0 ? row_max[i] : 1;
  }
  return diagonal;
}

/// Rows and columns by powers of 2 near 1 / sqrt of their magnitude.
Form equilibrated(const sparse::Csr& block) {
  const auto magnitude = magnitudes(block);
  Form form{natural_order(block.rows), natural_order(block.rows), Array<double>(block.rows), {}};
  for (std::int32_t i = 0; i < block.rows; ++i)
    form.row_scale[i] = std::ldexp(1, -std::ilogb(magnitude[i]) / 2);
  form.column_scale = form.row_scale;
  return form;
}

Form matched(const sparse::Csr& block, FactorReport& report, const std::function<void()>& give_up_if) {
  Matching matching = maximum_product_matching(block, give_up_if);
  report.matched = true;
  report.unmatched = matching.unmatched;
  Form form{natural_order(block.rows), std::move(matching.column_of), std::move(matching.row_scale),
            Array<double>(block.rows)};
  for (std::int32_t j = 0; j < block.rows; ++j)
    form.column_scale[j] = matching.column_scale[form.column_order[j]];
  return form;
}

template <class T>
void permute(Array<T>& values, const Array<std::int32_t>& order) {
  Array<T> result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[order[i]];
  values = std::move(result);
}

/// Factors one block, trying forms and shifts until the pivots are acceptable.
class BlockFactorization {
 public:
  BlockFactorization(const sparse::Csr& block, const FactorOptions& options,
                     const std::function<std::string(std::int32_t)>& name_row)
      : block_(block), options_(options), name_row_(name_row) {}

  FactoredBlock run() {
    check_entries();
    count_diagonals();
    take_form(equilibrated(block_));
    if (!factor(0) && options_.kind != FactorOptions::Kind::ic) {
      take_form(matched(block_, result_.report, [this] { give_up_if_asked(); }));
      factor(0);
    }
    for (double shift = first_shift; !factors_ && shift < last_shift; shift *= shift_factor) factor(shift);
    if (!factors_) keep_diagonal_only();
    finish();
    return std::move(result_);
  }

 private:
  void check_entries() const {
    for (std::int32_t i = 0; i < block_.rows; ++i)
      for (std::int64_t k = block_.row_start[i]; k < block_.row_start[i + 1]; ++k)
        if (!std::isfinite(block_.value[k])) throw InputError(name_row_(i) + "an entry is not finite");
  }

  void count_diagonals() {
    const Pivots pivots(block_);
    result_.report.inserted_diagonals = pivots.missing();
    result_.report.zero_rows = pivots.zero_rows();
  }

  void take_form(Form form) {
    form_ = std::move(form);
    a_ = transformed(block_, form_);
    if (options_.ordering != FactorOptions::Ordering::natural) reorder();
    pivots_.emplace(a_);
    if (options_.kind != FactorOptions::Kind::ilut)
      pattern_ = level_pattern(a_, options_.kind == FactorOptions::Kind::ic, options_.fill,
                               [this] { give_up_if_asked(); });
  }

  /// Complete factors fill the profile; those that keep the pattern of the matrix depend on the order in
  /// other ways, which it does not tell.
  void reorder() {
    const bool is_asked_for = options_.ordering == FactorOptions::Ordering::rcm;
    const bool fills = options_.kind == FactorOptions::Kind::ilut || options_.fill > 0;
    if (!is_asked_for && !fills) return;
    const auto order = reverse_cuthill_mckee(a_);
    if (!is_asked_for && profile(a_, order) >= profile(a_, {})) return;
    permute(form_.row_order, order);
    permute(form_.column_order, order);
    permute(form_.row_scale, order);
    permute(form_.column_scale, order);
    a_ = transformed(block_, form_);
    result_.report.reordered = true;
  }

  /// Keeps the factors of A + shift diag(d) if they are usable.
  bool factor(double shift) {
    Eliminated eliminated = eliminate(shift);
    auto rejected = eliminated.rejected_row;
    if (!rejected) rejected = find_growth(eliminated.factors);
    if (!rejected) {
      factors_ = std::move(eliminated.factors);
      result_.report.shift = shift;
      return true;
    }
    if (result_.report.rejected_row < 0) result_.report.rejected_row = form_.row_order[*rejected];
    if (options_.kind != FactorOptions::Kind::ilut) take_pattern_back(eliminated.factors);
    return false;
  }

  void take_pattern_back(TriangularFactors<double>& factors) {
    pattern_ = {std::move(factors.lower_start), std::move(factors.lower_column),
                std::move(factors.upper_start), std::move(factors.upper_column)};
  }

  Eliminated eliminate(double shift) {
    const auto give_up_if = [this] { give_up_if_asked(); };
    switch (options_.kind) {
      case FactorOptions::Kind::ic:
        return eliminate_symmetric(a_, std::move(pattern_), *pivots_, shift, give_up_if);
      case FactorOptions::Kind::ilu:
        return eliminate_on_pattern(a_, std::move(pattern_), *pivots_, shift, give_up_if);
      case FactorOptions::Kind::ilut:
        break;
    }
    return eliminate_by_size(a_, {options_.drop_tolerance, options_.fill}, *pivots_, shift, give_up_if);
  }

  /// Solves with d as the right-hand side; gives the row where the solution, which has no unit, or a factor
  /// is implausible.
  std::optional<std::int32_t> find_growth(const TriangularFactors<double>& factors) const {
    const auto fits = [](double value) { return std::abs(value) <= largest_float; };
    Array<double> solution(factors.rows);
    for (std::int32_t i = 0; i < factors.rows; ++i) solution[i] = pivots_->reference(i);
    factors.solve(solution, solution);
    for (std::int32_t i = 0; i < factors.rows; ++i)
      if (!(std::abs(solution[i]) <= largest_growth)) return i;
    const bool all_fit =
        std::ranges::all_of(factors.lower_value, fits) && std::ranges::all_of(factors.upper_value, fits);
    return all_fit ? std::nullopt : std::optional(factors.rows - 1);
  }

  void keep_diagonal_only() {
    result_.report.diagonal_only = true;
    factors_.emplace();
    factors_->rows = a_.rows;
    factors_->symmetric = true;
    factors_->upper_start.assign(a_.rows + 1, 0);
    factors_->inverse_pivot.resize(a_.rows);
    for (std::int32_t i = 0; i < a_.rows; ++i) factors_->inverse_pivot[i] = 1 / pivots_->reference(i);
  }

  void finish() {
    const bool is_unscaled = unscale();
    for (std::int32_t i = 0; i < a_.rows; ++i)
      if (!std::isfinite(factors_->inverse_pivot[i]))
        throw InputError(name_row_(form_.row_order[i]) + "1 / pivot overflows: scale the matrix");
    result_.factors = rounded(std::move(*factors_));
    if (!is_unscaled) {
      result_.row_scale = std::move(form_.row_scale);
      result_.column_scale = std::move(form_.column_scale);
    }
    if (is_natural(form_.row_order) && is_natural(form_.column_order)) return;
    result_.row_order = std::move(form_.row_order);
    result_.column_order = std::move(form_.column_order);
  }

  /// Multiplies the scalings into the factors, unless these would leave the range of single precision:
  /// R^-1 L D U C^-1 = (R^-1 L R) (R^-1 D C^-1) (C U C^-1).
  bool unscale() {
    const auto& r = form_.row_scale;
    const auto& c = form_.column_scale;
    TriangularFactors<double>& f = *factors_;
    Array<double> inverse_r(r.size());
    Array<double> inverse_c(c.size());
    std::ranges::transform(r, inverse_r.begin(), [](double scale) { return 1 / scale; });
    std::ranges::transform(c, inverse_c.begin(), [](double scale) { return 1 / scale; });
    // Powers of 2: exact, and undone exactly.
    const auto multiply = [&f](const auto& start, const auto& column, auto& value, const auto& of_column,
                               const auto& of_row) {
      bool fits = true;
      if (start.empty()) return fits;
      for (std::int32_t i = 0; i < f.rows; ++i) {
        for (std::int32_t k = start[i]; k < start[i + 1]; ++k) {
          value[k] *= of_column[column[k]] * of_row[i];
          const double size = std::abs(value[k]);
          fits = fits && (size == 0 || (smallest_float <= size && size <= largest_float));
        }
      }
      return fits;
    };
    const bool lower_fits = multiply(f.lower_start, f.lower_column, f.lower_value, r, inverse_r);
    const bool upper_fits = multiply(f.upper_start, f.upper_column, f.upper_value, inverse_c, c);
    if (lower_fits && upper_fits) {
      for (std::int32_t i = 0; i < f.rows; ++i) f.inverse_pivot[i] *= r[i] * c[i];
      return true;
    }
    multiply(f.lower_start, f.lower_column, f.lower_value, inverse_r, r);
    multiply(f.upper_start, f.upper_column, f.upper_value, c, inverse_c);
    return false;
  }

  void give_up_if_asked() const {
    if (options_.gives_up && options_.gives_up())
      throw EnvironmentError("the set-up took longer than it was worth, and was given up");
  }

  const sparse::Csr& block_;
  const FactorOptions& options_;
  const std::function<std::string(std::int32_t)>& name_row_;
  Form form_;
  sparse::Csr a_;  ///< the block in this form
  std::optional<Pivots> pivots_;
  FillPattern pattern_;
  std::optional<TriangularFactors<double>> factors_;
  FactoredBlock result_;
};

}  // namespace

FactorOptions::Ordering factor_ordering(std::string_view name) {
  using enum FactorOptions::Ordering;
  if (name == "auto") return automatic;
  if (name == "natural") return natural;
  if (name == "rcm") return rcm;
  throw InputError(fmt::format("unknown ordering '{}': want auto, natural or rcm", name));
}

void FactoredBlock::solve(std::span<const double> x, std::span<double> y, std::span<double> work) const {
  const int threads = schedule ? schedule->worthwhile_threads(max_threads()) : 1;
  const auto solve_factors = [&](std::span<const double> in, std::span<double> out) {
    if (threads > 1) {
      schedule->solve(factors, in, out, threads);
    } else {
      factors.solve(in, out);
    }
  };
  if (row_order.empty() && row_scale.empty()) return solve_factors(x, y);
  const std::int32_t n = factors.rows;
  const auto element = [](const Array<std::int32_t>& order, std::int32_t i) {
    return order.empty() ? i : order[i];
  };
  const auto scale = [](const Array<double>& scales, std::int32_t i) {
    return scales.empty() ? 1 : scales[i];
  };
  for (std::int32_t i = 0; i < n; ++i) work[i] = scale(row_scale, i) * x[element(row_order, i)];
  solve_factors(work.first(n), work.first(n));
  for (std::int32_t i = 0; i < n; ++i) y[element(column_order, i)] = scale(column_scale, i) * work[i];
}

FactoredBlock factor_block(const sparse::Csr& block, const FactorOptions& options,
                           const std::function<std::string(std::int32_t)>& name_row) {
  return BlockFactorization(block, options, name_row).run();
}

}  // namespace ayatori::solvers
