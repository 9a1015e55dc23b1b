#include "ayatori/solvers/preconditioners/factorizations/factored_block.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/factorizations/elimination.hpp"
#include "ayatori/solvers/preconditioners/factorizations/error_of_ones.hpp"
#include "ayatori/solvers/preconditioners/factorizations/even_rows.hpp"
#include "ayatori/solvers/preconditioners/orderings/matching.hpp"
#include "ayatori/solvers/preconditioners/orderings/reverse_cuthill_mckee.hpp"

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
/// row_scale[i] a(row_order[i], column_order[j]) column_scale[j]; an empty order is the natural one.
struct Form {
  Array<std::int32_t> row_order;
  Array<std::int32_t> column_order;
  Array<double> row_scale;
  Array<double> column_scale;
  bool is_symmetric = false;  ///< known to be, scalings included
};

bool is_natural(const Array<std::int32_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

std::int32_t element(const Array<std::int32_t>& order, std::int32_t i) {
  return order.empty() ? i : order[i];
}

Array<std::int32_t> inverse(const Array<std::int32_t>& order) {
  Array<std::int32_t> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int32_t>(k);
  return place;
}

sparse::Csr scaled(const sparse::Csr& a, const Form& form) {
  sparse::Csr result{a.rows, a.rows, a.row_start, a.column, Array<double>(a.value.size())};
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      result.value[k] = form.row_scale[i] * a.value[k] * form.column_scale[a.column[k]];
  return result;
}

/// Where the rows of this form of `a` begin.
Array<std::int64_t> row_starts(const sparse::Csr& a, const Form& form) {
  Array<std::int64_t> start(a.row_start.size());
  start[0] = 0;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t from = element(form.row_order, i);
    start[i + 1] = start[i] + a.row_start[from + 1] - a.row_start[from];
  }
  return start;
}

/// The transpose of `a` in this form, its rows sorted: entries are moved and not compared.
sparse::Csr transpose_of_form(const sparse::Csr& a, const Form& form) {
  const auto place = inverse(form.column_order);
  sparse::Csr result{a.rows, a.rows, {}, Array<std::int32_t>(a.column.size()), Array<double>(a.value.size())};
  if (form.is_symmetric) {
    result.row_start = row_starts(a, form);
  } else {
    result.row_start.assign(a.rows + 1, 0);
    for (const std::int32_t j : a.column) ++result.row_start[place[j] + 1];
    std::partial_sum(result.row_start.begin(), result.row_start.end(), result.row_start.begin());
  }
  Array<std::int64_t> next(result.row_start.begin(), result.row_start.end() - 1);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t from = element(form.row_order, i);
    for (std::int64_t k = a.row_start[from]; k < a.row_start[from + 1]; ++k) {
      const std::int32_t j = place[a.column[k]];
      const std::int64_t to = next[j]++;
      result.column[to] = i;
      result.value[to] = form.row_scale[i] * a.value[k] * form.column_scale[j];
    }
  }
  return result;
}

sparse::Csr transformed(const sparse::Csr& a, const Form& form) {
  if (form.column_order.empty()) return scaled(a, form);
  sparse::Csr transpose = transpose_of_form(a, form);
  if (form.is_symmetric) return transpose;
  sparse::Csr result{a.rows, a.rows, row_starts(a, form), Array<std::int32_t>(a.column.size()),
                     Array<double>(a.value.size())};
  Array<std::int64_t> next(result.row_start.begin(), result.row_start.end() - 1);
  for (std::int32_t j = 0; j < a.rows; ++j) {
    for (std::int64_t k = transpose.row_start[j]; k < transpose.row_start[j + 1]; ++k) {
      const std::int64_t to = next[transpose.column[k]]++;
      result.column[to] = j;
      result.value[to] = transpose.value[k];
    }
  }
  return result;
}

/// The diagonal, and where it is rounding noise the row's largest entry, or 1. In a definite matrix a_ij^2 <=
/// a_ii a_jj: an entry that is far from that beside others is noise, however small its row is.
Array<double> magnitudes(const sparse::Csr& a, const Array<double>& row_max) {
  Array<double> diagonal(a.rows, 0.0);
  double smallest = std::numeric_limits<double>::infinity();  // smallest of the diagonal, but for zeros
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      if (a.column[k] == i) diagonal[i] = std::abs(a.value[k]);
    if (diagonal[i] > 0) smallest = std::min(smallest, diagonal[i]);
  }
  const auto wanted = [&](std::int32_t i) {
    double largest = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const double size = std::abs(a.value[k]);
      const double beside = diagonal[a.column[k]];
      if (beside > 0) largest = std::max(largest, size * (size / beside));
    }
    return largest;
  };
  Array<double> result(diagonal);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const double bound = row_max[i] * (row_max[i] / smallest);
    if (diagonal[i] > zero_diagonal * bound) continue;
    const bool vanishes = diagonal[i] == 0 || diagonal[i] <= zero_diagonal * wanted(i);
    if (vanishes) result[i] = row_max[i] > 0 ? row_max[i] : 1;
  }
  return result;
}

/// Rows and columns by powers of 2 near 1 / sqrt of their magnitude.
Form equilibrated(const sparse::Csr& block, const Array<double>& row_max) {
  Form form{{}, {}, magnitudes(block, row_max), {}};
  for (double& scale : form.row_scale) scale = std::ldexp(1, -std::ilogb(scale) / 2);
  form.column_scale = form.row_scale;
  return form;
}

template <class T>
void permute(Array<T>& values, const Array<std::int32_t>& order) {
  Array<T> result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[order[i]];
  values = std::move(result);
}

Form matched(const sparse::Csr& block, FactorReport& report, const std::function<void()>& give_up_if) {
  Matching matching = maximum_product_matching(block, give_up_if);
  report.matched = true;
  report.unmatched = matching.unmatched;
  Form form{{}, {}, std::move(matching.row_scale), std::move(matching.column_scale)};
  if (is_natural(matching.column_of)) return form;
  permute(form.column_scale, matching.column_of);
  form.column_order = std::move(matching.column_of);
  return form;
}

void reorder(Form& form, Array<std::int32_t> order) {
  if (is_natural(order)) return;
  permute(form.row_scale, order);
  permute(form.column_scale, order);
  if (form.column_order.empty())
    form.column_order = order;
  else
    permute(form.column_order, order);
  form.row_order = std::move(order);
}

/// A triangle in single precision, its rows and columns times these powers of 2, and its rows even; nothing
/// if it does not fit. The zero of a row comes `first` or last.
std::optional<Triangle<float>> rounded_product(const Array<std::int32_t>& start,
                                               const Array<std::int32_t>& column, const Array<double>& value,
                                               const Array<double>& of_row, const Array<double>& of_column,
                                               bool first) {
  Triangle<float> result{even_starts(start), {}, {}};
  result.column.resize(result.start.back());
  result.value.resize(result.start.back());
  bool fits = true;
  for (std::size_t i = 0; i + 1 < start.size(); ++i) {
    std::int32_t place = result.start[i];
    const auto put = [&](std::int32_t j, float product) {
      result.column[place] = j;
      result.value[place++] = product;
    };
    const bool is_odd = result.start[i + 1] - place != start[i + 1] - start[i];
    if (is_odd && first) put(column[start[i]], 0);
    for (std::int32_t k = start[i]; k < start[i + 1]; ++k) {
      const double product = value[k] * (of_row[i] * of_column[column[k]]);
      const double size = std::abs(product);
      fits &= size == 0 || (smallest_float <= size && size <= largest_float);
      put(column[k], static_cast<float>(product));
    }
    if (is_odd && !first) put(column[start[i + 1] - 1], 0);
    if (!fits) return {};
  }
  return result;
}

/// Factors one block, trying forms and shifts until the pivots are acceptable.
class BlockFactorization {
 public:
  BlockFactorization(const sparse::Csr& block, const FactorOptions& options,
                     const std::function<std::string(std::int32_t)>& name_row)
      : block_(block), options_(options), name_row_(name_row) {}

  FactoredBlock run() {
    take_form(equilibrated(block_, checked_row_max()));
    result_.report.inserted_diagonals = pivots_->missing();
    result_.report.zero_rows = pivots_->zero_rows();
    if (!factor(0) && options_.kind != FactorOptions::Kind::ic) {
      take_form(matched(block_, result_.report, [this] { give_up_if_asked(); }));
      pivots_->insist_on_sign();
      factor(0);
    }
    pivots_->insist_on_sign();
    for (double shift = first_shift; !factors_ && shift < last_shift; shift *= shift_factor) factor(shift);
    if (!factors_) keep_diagonal_only();
    finish();
    return std::move(result_);
  }

 private:
  /// The largest entry of each row.
  Array<double> checked_row_max() const {
    Array<double> result(block_.rows);
    for (std::int32_t i = 0; i < block_.rows; ++i) {
      std::uint64_t largest = 0;  // largest bits, by which numbers without a sign compare, NaN as well
      for (std::int64_t k = block_.row_start[i]; k < block_.row_start[i + 1]; ++k)
        largest = std::max(largest, std::bit_cast<std::uint64_t>(std::abs(block_.value[k])));
      result[i] = std::bit_cast<double>(largest);
      if (!std::isfinite(result[i])) throw InputError(name_row_(i) + "an entry is not finite");
    }
    return result;
  }

  void take_form(Form form) {
    form_ = std::move(form);
    if (options_.ordering != FactorOptions::Ordering::natural) find_order();
    a_ = transformed(block_, form_);
    pivots_.emplace(a_);
    if (options_.kind != FactorOptions::Kind::ilut)
      pattern_ = level_pattern(a_, options_.kind == FactorOptions::Kind::ic, options_.fill,
                               [this] { give_up_if_asked(); });
  }

  /// Factors that drop by size keep more of a smaller profile. Those that keep levels of fill depend on the
  /// order in other ways: ILU mostly does better in the order of the user, who numbers unknowns of a node
  /// together.
  void find_order() {
    const bool is_asked_for = options_.ordering == FactorOptions::Ordering::rcm;
    const bool fills = options_.kind == FactorOptions::Kind::ilut ||
                       (options_.kind == FactorOptions::Kind::ic && options_.fill > 0);
    if (!is_asked_for && !fills) return;
    const auto place = inverse(form_.column_order);
    const PatternGraph graph(block_, place);
    auto order = reverse_cuthill_mckee(graph);
    if (!is_asked_for && profile(graph, order) >= profile(graph, {})) return;
    // A matching scales rows and columns apart.
    form_.is_symmetric = graph.is_of_symmetric_matrix() && form_.row_scale == form_.column_scale;
    reorder(form_, std::move(order));
    result_.report.reordered = true;
  }

  /// Keeps the factors of A + shift diag(d) if they are usable.
  bool factor(double shift) {
    Eliminated eliminated = eliminate(shift);
    auto rejected = eliminated.rejected_row;
    if (!rejected) rejected = find_growth(eliminated.factors, shift);
    if (!rejected) {
      factors_ = std::move(eliminated.factors);
      result_.report.shift = shift;
      return true;
    }
    if (result_.report.rejected_row < 0) result_.report.rejected_row = element(form_.row_order, *rejected);
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
  /// is implausible. Where the matrix is shifted or pivots have changed sign, the factors must also be near
  /// A.
  std::optional<std::int32_t> find_growth(const TriangularFactors<double>& factors, double shift) const {
    const auto fits = [](double value) { return std::abs(value) <= largest_float; };
    Array<double> solution(factors.rows);
    for (std::int32_t i = 0; i < factors.rows; ++i) solution[i] = pivots_->reference(i);
    factors.solve(solution, solution);
    for (std::int32_t i = 0; i < factors.rows; ++i)
      if (!(std::abs(solution[i]) <= largest_growth)) return i;
    if (const auto turned = first_turned(factors);
        (turned || shift > 0) && !(error_of_ones(factors, row_sums()) <= largest_error_of_ones))
      return turned.value_or(factors.rows - 1);
    const bool all_fit =
        std::ranges::all_of(factors.lower_value, fits) && std::ranges::all_of(factors.upper_value, fits);
    return all_fit ? std::nullopt : std::optional(factors.rows - 1);
  }

  std::optional<std::int32_t> first_turned(const TriangularFactors<double>& factors) const {
    for (std::int32_t i = 0; i < factors.rows; ++i)
      if (pivots_->has_turned(factors.inverse_pivot[i])) return i;
    return std::nullopt;
  }

  Array<double> row_sums() const {
    Array<double> sums(a_.rows, 0.0);
    for (std::int32_t i = 0; i < a_.rows; ++i)
      for (std::int64_t k = a_.row_start[i]; k < a_.row_start[i + 1]; ++k) sums[i] += a_.value[k];
    return sums;
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
    a_ = {};  // memory for what comes
    if (auto factors = unscaled()) {
      result_.factors = std::move(*factors);
    } else {
      result_.factors = rounded(std::move(*factors_));
      result_.row_scale = std::move(form_.row_scale);
      result_.column_scale = std::move(form_.column_scale);
    }
    for (std::int32_t i = 0; i < block_.rows; ++i)
      if (!std::isfinite(result_.factors.inverse_pivot[i]))
        throw InputError(name_row_(element(form_.row_order, i)) + "1 / pivot overflows: scale the matrix");
    result_.row_order = std::move(form_.row_order);
    result_.column_order = std::move(form_.column_order);
  }

  /// The factors with the scalings multiplied into them, unless they would leave the range of single
  /// precision: R^-1 L D U C^-1 = (R^-1 L R) (R^-1 D C^-1) (C U C^-1).
  std::optional<TriangularFactors<float>> unscaled() {
    const auto& r = form_.row_scale;
    const auto& c = form_.column_scale;
    TriangularFactors<double>& f = *factors_;
    Array<double> inverse_r(r.size());
    Array<double> inverse_c(c.size());
    std::ranges::transform(r, inverse_r.begin(), [](double scale) { return 1 / scale; });
    std::ranges::transform(c, inverse_c.begin(), [](double scale) { return 1 / scale; });
    std::optional<Triangle<float>> lower{std::in_place};
    if (!f.symmetric)
      lower = rounded_product(f.lower_start, f.lower_column, f.lower_value, inverse_r, r, true);
    if (!lower) return {};
    auto upper = rounded_product(f.upper_start, f.upper_column, f.upper_value, c, inverse_c, false);
    if (!upper) return {};
    for (std::int32_t i = 0; i < f.rows; ++i) f.inverse_pivot[i] *= r[i] * c[i];
    return TriangularFactors<float>{f.rows,
                                    f.symmetric,
                                    std::move(lower->start),
                                    std::move(lower->column),
                                    std::move(lower->value),
                                    std::move(upper->start),
                                    std::move(upper->column),
                                    std::move(upper->value),
                                    std::move(f.inverse_pivot)};
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
  if (row_order.empty() && column_order.empty() && row_scale.empty()) return solve_factors(x, y);
  const std::int32_t n = factors.rows;
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
