#include "ayatori/tuning/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/kernel.hpp"

namespace ayatori::tuning {

namespace {

/// The numerics of a rung before what is forced is laid over it.
struct Suggestion {
  const char* method;
  const char* preconditioner;
  int restart;
  const char* orthogonalization;
  const char* why;
  bool last_resort = false;
  bool favourite = false;
};

double mean_row(const MatrixFacts& facts) {
  return static_cast<double>(facts.nonzeros) / static_cast<double>(std::max<std::int64_t>(facts.rows, 1));
}

/// What complete factors take for graph and tables goes by the rows: so many bytes of products for each, and
/// for calls that the smallest matrix needs as long as a product with so many nonzeros.
constexpr double analysis_bytes_of_a_row = 50e3;
constexpr double nonzeros_of_calls = 4e5;
/// Complete factors that cost no more than so many products are a favourite of any matrix but definite ones.
constexpr double cheap_factors = 800;

/// What a product with compressed sparse rows moves for a row.
double bytes_of_a_row(const MatrixFacts& facts) {
  return 12 * mean_row(facts) + 24;
}

/// Products that take as long as one with so many nonzeros.
double products_with(double nonzeros, const MatrixFacts& facts) {
  return nonzeros / static_cast<double>(std::max<std::int64_t>(facts.nonzeros, 1));
}

double products_of_analysis(const MatrixFacts& facts) {
  return analysis_bytes_of_a_row / bytes_of_a_row(facts) + products_with(nonzeros_of_calls, facts);
}

/// What complete factors take at most: within the band a row is eliminated from as many others as the band is
/// wide, in as many operations each.
double products_in_band(const MatrixFacts& facts) {
  const auto band = static_cast<double>(facts.bandwidth);
  return products_of_analysis(facts) + 2 * band * band / std::max(mean_row(facts), 1.0);
}

/// At least half of the band has entries, and few in all: what incomplete factors drop is next to nothing,
/// and complete ones would cost little.
bool is_narrow_band(const MatrixFacts& facts) {
  return facts.bandwidth > 0 && static_cast<double>(facts.bandwidth) <= mean_row(facts) &&
         products_in_band(facts) < cheap_factors;
}

/// What they take for most matrices. How many operations there are is known after the analysis, which is when
/// a trial that would be far dearer ends.
double products_of_complete_factors(const MatrixFacts& facts) {
  constexpr double rows_for_a_product = 50;
  return std::min(products_in_band(facts),
                  products_of_analysis(facts) + static_cast<double>(facts.rows) / rows_for_a_product);
}

/// A matrix with zeros in this share of its diagonal has one for other reasons than its equations' form: what
/// is there of pivots says little of those that a factorization needs.
constexpr double too_many_zeros = 0.05;
bool has_too_many_zeros(const MatrixFacts& facts) {
  return static_cast<double>(facts.zero_diagonals) > too_many_zeros * static_cast<double>(facts.rows);
}

/// Complete factors come first where they are cheap and there is no diagonal to begin with, second where
/// there is nothing between the plainest method and them, and otherwise when the others have had their turn,
/// before the last resorts.
void add_direct(const MatrixFacts& facts, const Forced& forced, std::vector<Suggestion>& list) {
  const bool is_definite = facts.looks_definite();
  const bool is_indefinite = facts.symmetric && !is_definite;
  const bool are_cheap = products_of_complete_factors(facts) < cheap_factors;
  const bool begins = are_cheap && has_too_many_zeros(facts) && !forced.preconditioner;
  const auto place = is_indefinite ? list.begin() + 1
                     : begins      ? list.begin()
                                   : std::ranges::find(list, true, &Suggestion::last_resort);
  list.insert(place, {"gmres", "direct", 30, "cgs", "complete factors end where iterations do not", false,
                      is_indefinite || (are_cheap && !is_definite)});
}

/// In a narrow band incomplete factors are nearly complete. What the diagonal solves at once needs none.
void add_factors_of_a_band(const MatrixFacts& facts, const Forced& forced, std::vector<Suggestion>& list) {
  if (forced.preconditioner || !is_narrow_band(facts) || is_solved_by_diagonal(facts)) return;
  constexpr auto why = "the band is so narrow that incomplete factors are nearly complete";
  if (facts.looks_definite()) {
    list.insert(list.begin(), {"cg", "ic", 0, "", why});
  } else {
    list.insert(list.begin(), {"gmres", "ilu", 30, "cgs", why});
  }
}

/// Those of libraries that this build does without.
bool is_unknown(const Suggestion& suggestion) {
  return std::ranges::none_of(solvers::preconditioners(),
                              [&](const auto& type) { return type.name == suggestion.preconditioner; });
}

/// Iterations of CG to 1e-8 on Poisson's equation: with the diagonal, for each point along an edge of a cube
/// or square, and with multigrid. With varying coefficients the first are more.
constexpr double diagonal_iterations_per_point = 2.2;
constexpr double multigrid_iterations = 15;
/// Where grids are less regular or coefficients vary: so many times as many.
constexpr double multigrid_caution = 2;
/// Bytes of a row of the seven-point matrix that the list of preconditioners has multigrid's set-up from, and
/// which part of that set-up goes by the rows; the rest goes by the nonzeros, as products do. The smallest
/// hierarchy takes as long as a product with so many nonzeros.
constexpr double bytes_of_seven_points = 12 * 7 + 24;
constexpr double setup_by_rows = 0.7;
constexpr double nonzeros_of_levels = 3e6;

/// Products that factors with and without fill take for an entry of the row that a mean entry stands in,
/// where that is long: each entry of a row subtracts another row.
constexpr double products_of_long_rows = 0.75;
constexpr double products_of_long_rows_without_fill = 0.4;

/// Points of a mesh have about as many neighbours each. Where some rows are so many times as long as the
/// mean, as in circuits, coarser grids fill up.
constexpr double longest_row_in_space = 16;

/// Where entries stand in rows so many times as long as the mean, one level of fill is far more than what it
/// fills.
constexpr double uneven = 2;
bool has_uneven_rows(const MatrixFacts& facts) {
  return facts.mean_row_of_entries > uneven * mean_row(facts);
}

/// Factors of such rows take as long as hundreds of products.
constexpr double far_too_long = 200;

/// One level of fill makes factors of such rows long, and dear to make.
constexpr double long_row = 50;

/// Iterations of CG to 1e-8 with the diagonal, in the problem of this size that needs fewest: in a cube, but
/// what takes more steps to cross takes more.
double diagonal_iterations(const MatrixFacts& facts) {
  const double points_along_an_edge =
      std::max(std::cbrt(static_cast<double>(facts.rows)), facts.least_diameter);
  return std::min(diagonal_iterations_per_point * points_along_an_edge, iterations_by_dominance(facts));
}

/// In products, of CG.
double cost_of(const char* preconditioner, double iterations, const MatrixFacts& facts) {
  const PredictedCost cost = predict_cost({.method = "cg", .preconditioner = preconditioner}, facts);
  return cost.setup + iterations * cost.iteration;
}

/// Whether multigrid is the first choice: it is expected to pay even in the problem of diffusion that needs
/// it least.
bool multigrid_pays(const MatrixFacts& facts) {
  if (!is_diffusive(facts) || is_solved_by_diagonal(facts)) return false;
  return cost_of("amg", multigrid_iterations, facts) < cost_of("jacobi", diagonal_iterations(facts), facts);
}

/// Iterations with factors without fill are taken to be so many times what their condition number says and
/// diagonal_iterations(), which are few. With it the limits are where multigrid takes as long:
/// poisson3d-7:n=48, tetrahedra3d:n=43.
constexpr double caution_with_factors = 1.3;
constexpr double fewest_with_factors = 8;
/// One level of fill saves this share of them.
constexpr double saved_by_fill = 0.33;

/// Where a mesh is numbered as it lies in space and coefficients do not jump, iterations go by its size.
bool is_even_mesh(const MatrixFacts& facts) {
  constexpr double jump = 100;
  constexpr double nearly = 0.9;
  return is_diffusive(facts) && facts.max_abs_diagonal <= jump * facts.min_abs_diagonal &&
         facts.least_diameter >= nearly * std::cbrt(static_cast<double>(facts.rows));
}

/// Unsymmetric factors take so many times as many iterations beside multigrid's, unless convection is strong:
/// elimination follows the flow, and multigrid does not.
constexpr double against_diffusion = 1.4;
constexpr double strong_convection = 0.2;
/// From here on convection between neighbours prevails over diffusion.
constexpr double prevailing_convection = 0.4;

/// Where rows are cut into blocks, what couples these is left out too: one cut adds this share of the
/// iterations with the diagonal, and doubling the number of blocks a third of that.
constexpr double share_of_a_cut = 0.07;
constexpr double of_further_cuts = 0.3;

/// Of CG, or half the products of BiCGSTAB, to 1e-8 on an even mesh, with factors that leave out fill: by the
/// condition number.
double iterations_without_fill(const MatrixFacts& facts) {
  const bool diffuses = !facts.symmetric && facts.asymmetry < strong_convection;
  const double of_block = caution_with_factors * std::sqrt(facts.dropped_fill / 2);
  const double halvings = std::log2(static_cast<double>(std::max<std::int64_t>(facts.blocks, 1)));
  const double of_cuts = facts.blocks > 1 ? share_of_a_cut * (1 + of_further_cuts * (halvings - 1)) : 0;
  return std::max(((diffuses ? against_diffusion : 1) * of_block + of_cuts) * diagonal_iterations(facts),
                  fewest_with_factors);
}

/// Whether factors without fill are expected to be cheaper than multigrid and factors with some.
bool factors_without_fill_pay(const MatrixFacts& facts) {
  if (!is_even_mesh(facts) || facts.dropped_fill == 0) return false;
  const double iterations = iterations_without_fill(facts);
  const double cost = cost_of("block-ilu0", iterations, facts);
  return cost < cost_of("amg", multigrid_iterations, facts) &&
         cost < cost_of("ic", (1 - saved_by_fill) * iterations, facts);
}

constexpr auto even_mesh =
    "the mesh is even and not so large: what factors without fill leave out is little beside the smallest "
    "eigenvalue";
constexpr auto small_mesh =
    "the mesh is even and too small for multigrid to pay, while factors with fill are dear";
constexpr auto classical_grids =
    "coarser grids that follow convection and jumps more closely, at a higher price";

/// Smooth vectors are much shorter after the product than vectors are on average: so the smallest eigenvalue
/// of D^-1 A is small, and the diagonal no preconditioner to begin with.
bool is_stiff(const MatrixFacts& facts) {
  constexpr double much_shorter = 0.5;
  return std::abs(facts.constant_quotient) < much_shorter && !is_solved_by_diagonal(facts);
}

void suggest_definite(const MatrixFacts& facts, std::vector<Suggestion>& list) {
  const Suggestion diagonal{"cg", "jacobi", 0, "",
                            "the matrix is symmetric with a diagonal of one sign, so it may be definite; the "
                            "diagonal costs nothing to apply"};
  const Suggestion multigrid{"cg", "amg", 0, "",
                             "coarser grids carry across the whole domain what an iteration carries to "
                             "neighbours only"};
  const bool looks_like_diffusion = is_diffusive(facts);
  const bool begins_with_multigrid = multigrid_pays(facts);
  const bool begins_without_fill = factors_without_fill_pay(facts) && is_stiff(facts);
  // Products with blocks take so much less than factors that iterations may be many more. Where a constant is
  // no smooth vector, the unknowns are of several kinds, and many more is what they are.
  const bool has_blocks = facts.block_size > 1 && is_stiff(facts);
  const bool fills_up = has_uneven_rows(facts) || facts.mean_row_of_entries > long_row;
  const Suggestion no_fill{"cg",
                           "block-ilu0",
                           0,
                           "",
                           "incomplete factors save iterations where the diagonal is not enough",
                           false,
                           fills_up && !begins_with_multigrid && !has_blocks};
  const Suggestion without_fill{"cg", "block-ilu0", 0, "", even_mesh};
  const Suggestion fill{"cg",
                        "ic",
                        0,
                        "",
                        "the matrix may be definite: factors with some fill save most iterations",
                        false,
                        !fills_up && !begins_with_multigrid && !begins_without_fill && !has_blocks};
  if (begins_without_fill) list.push_back(without_fill);
  if (begins_with_multigrid) list.push_back(multigrid);
  if (is_stiff(facts) && !has_blocks) list.push_back(fills_up ? no_fill : fill);
  list.push_back(diagonal);
  if (fills_up) list.push_back(no_fill);
  list.push_back(fill);
  if (looks_like_diffusion) list.push_back(multigrid);
  list.push_back(no_fill);
  list.push_back(multigrid);
  list.push_back({"cg", "chebyshev", 0, "",
                  "a polynomial of the matrix reaches across the blocks that ILU(0) is cut into"});
  list.push_back({"minres", "jacobi", 0, "", "MINRES needs symmetry only, not definiteness"});
}

void suggest_bicgstab(const MatrixFacts& facts, std::vector<Suggestion>& list) {
  constexpr double most = 0.5;
  constexpr double least_quotient = 0.02;  // no smaller eigenvalue is in sight, while the largest are below 2
  const bool dominated = is_dominated(facts);
  const bool has_diagonal = facts.zero_diagonals == 0;
  const bool is_mostly_zero =
      static_cast<double>(facts.zero_diagonals) > most * static_cast<double>(facts.rows);
  const bool begins_with_grids = !facts.symmetric && multigrid_pays(facts);
  const bool is_easy = is_solved_by_diagonal(facts);
  const bool may_begin_with_factors = !facts.symmetric && has_diagonal && !begins_with_grids && !is_easy;
  const bool is_small_mesh = may_begin_with_factors && is_even_mesh(facts);
  const bool begins_with_sweeps =
      may_begin_with_factors && !is_small_mesh && dominated && facts.constant_quotient >= least_quotient;
  // As in circuits: long rows make factors without fill nearly as dear as those of what is large, and worse.
  // Where links go one way, as in a network of pages, a long row is no long column: elimination fills such
  // matrices, and a few steps without factors tell whether they are wanted.
  const bool begins_plainly = !begins_with_grids && !begins_with_sweeps && has_uneven_rows(facts) &&
                              !facts.pattern_symmetric && !has_too_many_zeros(facts) &&
                              facts.mean_row_of_entries > far_too_long;
  const bool begins_with_large_entries =
      may_begin_with_factors && !begins_with_sweeps && has_uneven_rows(facts) && !begins_plainly;
  const Suggestion diagonal{
      "bicgstab", "jacobi", 0, "",
      "BiCGSTAB needs nothing but a matrix and keeps no basis; its iterations cost hardly more "
      "than products"};
  const Suggestion large_entries{"bicgstab",
                                 "ilut",
                                 0,
                                 "",
                                 "factors that keep what is large suit most matrices",
                                 false,
                                 !facts.symmetric && !begins_with_grids && !is_small_mesh && !begins_plainly};
  const Suggestion no_fill{
      "bicgstab",
      "block-ilu0",
      0,
      "",
      "factors without fill are soon made, whatever the matrix",
      false,
      !begins_with_grids && !begins_with_sweeps && (has_diagonal || (facts.symmetric && !is_mostly_zero))};
  const Suggestion grids{
      "bicgstab", "amg", 0, "",
      "rows sum to nothing or the diagonal dominates them, as in convection with diffusion: "
      "coarser grids may pay"};
  if (is_small_mesh) list.push_back({"bicgstab", "block-ilu0", 0, "", small_mesh});
  if (begins_with_grids && factors_without_fill_pay(facts))
    list.push_back({"bicgstab", "block-ilu0", 0, "", even_mesh});
  if (begins_with_grids && facts.asymmetry >= prevailing_convection)
    list.push_back({"bicgstab", "ilut", 0, "",
                    "convection prevails over diffusion from point to point: elimination follows it, coarser "
                    "grids do not"});
  if (begins_with_grids) list.push_back(grids);
  if (begins_with_sweeps)
    list.push_back({"bicgstab", "ssor", 0, "",
                    "the diagonal dominates nearly all rows, so that sweeps through the rows need few "
                    "iterations, and they need no set-up"});
  if (begins_with_large_entries) list.push_back(large_entries);
  const bool begins_with_diagonal = facts.symmetric || is_easy;
  if (begins_plainly || (has_diagonal && begins_with_diagonal)) list.push_back(diagonal);
  if (has_diagonal) list.insert(list.end(), {no_fill, diagonal});
  list.push_back(large_entries);
  if (dominated) list.push_back(grids);
  if (dominated || begins_with_grids) list.push_back({"bicgstab", "boomeramg", 0, "", classical_grids});
  list.insert(list.end(), {no_fill, diagonal});
}

/// What is there when the others fail, plainer and longer ones last.
void suggest_gmres(int longest_restart, std::vector<Suggestion>& list) {
  list.push_back({"gmres", "block-ilu0", 30, "cgs",
                  "GMRES never lets the residual grow, where BiCGSTAB may break down or wander"});
  list.push_back({"gmres", "block-jacobi", 30, "cgs", "cheap blocks, in case the factors are useless"});
  list.push_back(
      {"gmres", "neumann", 30, "cgs", "a polynomial of the matrix reaches across the blocks of the others"});
  list.push_back({"gmres", "none", 30, "cgs", "nothing that could do harm"});
  list.push_back({"gmres", "block-ilu0", longest_restart, "ircgs",
                  "the longest basis that matrix and memory allow, kept orthogonal", true});
  list.push_back({"gmres", "jacobi", longest_restart, "ircgs",
                  "the longest basis, with the plainest preconditioner", true});
  list.push_back({"gmres", "none", longest_restart, "ircgs",
                  "the longest basis, with nothing that could do harm", true});
}

/// One choice may stand there several times: the first place counts.
std::vector<Suggestion> suggest(const MatrixFacts& facts, const Forced& forced, int longest_restart) {
  std::vector<Suggestion> list;
  if (facts.looks_definite()) {
    suggest_definite(facts, list);
  } else if (facts.symmetric) {
    list.push_back({"minres", "none", 0, "", "the matrix is symmetric but not definite"});
  }
  suggest_bicgstab(facts, list);
  suggest_gmres(longest_restart, list);
  add_direct(facts, forced, list);
  add_factors_of_a_band(facts, forced, list);
  std::erase_if(list, is_unknown);
  return list;
}

Choice lay_over(const Suggestion& suggestion, const Forced& forced) {
  Choice choice{suggestion.method,          suggestion.preconditioner,
                suggestion.restart,         suggestion.orthogonalization,
                forced.kernel.value_or(""), forced.halo.value_or("")};
  if (forced.method) choice.method = *forced.method;
  if (forced.preconditioner) choice.preconditioner = *forced.preconditioner;
  if (solvers::method(choice.method).restarts) {
    choice.restart = forced.restart.value_or(choice.restart > 0 ? choice.restart : 30);
    if (choice.orthogonalization.empty()) choice.orthogonalization = "cgs";
    const auto built_in = solvers::method(choice.method).only_orthogonalization;
    if (!built_in.empty()) choice.orthogonalization = built_in;
    if (forced.orthogonalization) choice.orthogonalization = *forced.orthogonalization;
    for (const auto& other : solvers::orthogonalizations()) {
      if (!forced.excludes(choice.orthogonalization)) break;
      choice.orthogonalization = other.name;
    }
  } else {
    choice.restart = 0;
    choice.orthogonalization.clear();
  }
  return choice;
}

void check_exclusions(const Forced& forced) {
  const auto known = [](std::string_view name) {
    const auto is_in = [&](auto list) {
      return std::ranges::any_of(list, [&](const auto& type) { return type.name == name; });
    };
    const std::string_view halo = name.substr(0, name.find("+overlap"));
    return name == solvers::least_squares_name || is_in(solvers::methods()) ||
           is_in(solvers::preconditioners()) || is_in(solvers::orthogonalizations()) ||
           is_in(sparse::kernels()) || std::ranges::any_of(sparse::halo_strategies(), [&](const auto& type) {
             return type.name == halo;
           });
  };
  const std::array forced_names{forced.method, forced.preconditioner, forced.orthogonalization, forced.kernel,
                                forced.halo};
  for (const std::string& name : forced.excluded) {
    if (!known(name)) {
      throw InputError(
          fmt::format("'{}' is excluded, but there is no method, preconditioner, orthogonalization, "
                      "kernel or halo strategy of this name",
                      name));
    }
    if (std::ranges::find(forced_names, name) != forced_names.end())
      throw InputError(fmt::format("'{}' is both forced and excluded", name));
  }
}

}  // namespace

bool is_least_squares(const Choice& choice) {
  return choice.method == solvers::least_squares_name;
}

Choice least_squares_choice() {
  return {.method = std::string(solvers::least_squares_name), .preconditioner = "none", .restart = 0};
}

std::string describe(const Choice& choice) {
  std::string text = choice.method;
  if (choice.restart > 0) text += fmt::format("({})", choice.restart);
  text += " + " + choice.preconditioner;
  if (!choice.orthogonalization.empty()) text += ", orthogonalization " + choice.orthogonalization;
  return text;
}

void check(const Forced& forced) {
  if (forced.preconditioner) solvers::preconditioner(*forced.preconditioner);
  if (forced.orthogonalization) solvers::orthogonalization(*forced.orthogonalization);
  if (forced.kernel) sparse::kernel(*forced.kernel);
  if (forced.halo) sparse::halo_strategy(*forced.halo);
  if (forced.restart && *forced.restart < 1) {
    throw InputError(fmt::format("the restart length is {}, but must be at least 1", *forced.restart));
  }
  check_exclusions(forced);
  if (!forced.method) return;
  const bool is_lsmr = *forced.method == solvers::least_squares_name;
  if (is_lsmr && forced.preconditioner.value_or("none") != "none")
    throw InputError(fmt::format("method '{}' takes no preconditioner, so '{}' contradicts it",
                                 *forced.method, *forced.preconditioner));
  const bool restarts = !is_lsmr && solvers::method(*forced.method).restarts;
  if (!restarts && forced.restart) {
    throw InputError(
        fmt::format("method '{}' never restarts, so a restart length contradicts it", *forced.method));
  }
  if (!restarts && forced.orthogonalization) {
    throw InputError(
        fmt::format("method '{}' keeps no basis, so an orthogonalization contradicts it", *forced.method));
  }
  if (is_lsmr) return;
  const auto& method = solvers::method(*forced.method);
  const auto built_in = method.only_orthogonalization;
  if (!built_in.empty() && forced.orthogonalization && *forced.orthogonalization != built_in) {
    throw InputError(fmt::format("method '{}' has orthogonalization {} built in, which {} contradicts",
                                 method.name, built_in, *forced.orthogonalization));
  }
}

double iterations_by_dominance(const MatrixFacts& facts) {
  const double powers = std::log(2 / 1e-8);
  return powers / 2 * std::sqrt(2 / facts.least_dominance);
}

bool is_solved_by_diagonal(const MatrixFacts& facts) {
  constexpr double at_once = 50;   // iterations
  constexpr double mostly = 0.75;  // of the rows
  return iterations_by_dominance(facts) < at_once || facts.strongly_dominant_rows >= mostly;
}

bool has_long_rows(const MatrixFacts& facts) {
  return static_cast<double>(facts.max_row_nonzeros) > longest_row_in_space * mean_row(facts);
}

bool is_diffusive(const MatrixFacts& facts) {
  return facts.diffusive_rows >= nearly_all && facts.block_size == 1 && !has_long_rows(facts);
}

bool is_dominated(const MatrixFacts& facts) {
  return facts.dominant_rows >= nearly_all;
}

double least_iterations(const MatrixFacts& facts) {
  return is_diffusive(facts) && !is_solved_by_diagonal(facts) ? diagonal_iterations(facts) : 0;
}

std::vector<Rung> make_ladder(const MatrixFacts& facts, const Forced& forced, int longest_restart) {
  if (forced.method == solvers::least_squares_name) return {{least_squares_choice(), "what you forced"}};
  // A restart length or an orthogonalization can only be obeyed by a method that has them.
  const bool wants_basis = !forced.method && (forced.restart || forced.orthogonalization);
  const bool definite = facts.looks_definite();
  std::vector<Rung> ladder;
  for (const Suggestion& suggestion : suggest(facts, forced, longest_restart)) {
    if (wants_basis && !solvers::method(suggestion.method).restarts) continue;
    Choice choice = lay_over(suggestion, forced);
    // What may not be symmetric and definite is nothing for a forced CG or MINRES; complete factors are as
    // symmetric as the matrix.
    const bool may_be_unsymmetric =
        !solvers::preconditioner(choice.preconditioner).symmetric && !uses_complete_factors(choice);
    if (!forced.preconditioner && may_be_unsymmetric && solvers::method(choice.method).needs_symmetric)
      continue;
    if (!forced.restart && choice.restart > longest_restart) choice.restart = longest_restart;
    if (forced.excludes(choice.method) || forced.excludes(choice.preconditioner) ||
        forced.excludes(choice.orthogonalization))
      continue;
    const bool repeated =
        std::ranges::any_of(ladder, [&](const Rung& rung) { return rung.choice == choice; });
    if (repeated) continue;
    const bool as_suggested =
        choice.method == suggestion.method && choice.preconditioner == suggestion.preconditioner;
    // Where CG does, the others need as many products and more memory traffic, unless factors are complete.
    const bool is_no_better = definite && choice.method != "cg" && !uses_complete_factors(choice);
    const bool last_resort = suggestion.last_resort || is_no_better;
    ladder.push_back({std::move(choice),
                      as_suggested ? suggestion.why : "what you forced, and the next of what is left open",
                      last_resort, suggestion.favourite && !last_resort});
  }
  if (ladder.empty()) throw InputError("--exclude leaves nothing to solve with");
  return ladder;
}

std::optional<double> expected_iterations(const Choice& choice, const MatrixFacts& facts, double powers) {
  if (uses_complete_factors(choice)) return iterations_of_complete_factors;
  if (!facts.looks_definite() || !is_diffusive(facts) || choice.method != "cg" ||
      choice.preconditioner != "amg")
    return std::nullopt;
  constexpr double eight_digits = 18.42;  // powers of e
  return multigrid_caution * multigrid_iterations * powers / eight_digits;
}

PredictedCost predict_cost(const Choice& choice, const MatrixFacts& facts, double kernel_share) {
  const auto& method = solvers::method(choice.method);
  const auto& preconditioner = solvers::preconditioner(choice.preconditioner);
  const double product = bytes_of_a_row(facts);
  double setup = preconditioner.setup_products;
  // Most of multigrid's set-up goes by the rows: the longer they are, the fewer products it is worth.
  if (preconditioner.name == "amg")
    setup = setup * (1 - setup_by_rows + setup_by_rows * bytes_of_seven_points / product) +
            products_with(nonzeros_of_levels, facts);
  if (preconditioner.name == "block-ilu0")
    setup = std::max(setup, products_of_long_rows_without_fill * facts.mean_row_of_entries);
  if (preconditioner.name == "ic") setup = std::max(setup, products_of_long_rows * facts.mean_row_of_entries);
  if (uses_complete_factors(choice)) setup = std::min(setup, products_of_complete_factors(facts));
  return {setup, kernel_share + preconditioner.apply_products + 8 * method.traffic / product};
}

}  // namespace ayatori::tuning
