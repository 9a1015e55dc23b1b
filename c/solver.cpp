#include "c/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "ayatori/session/problem/rows_in_memory.hpp"
#include "ayatori/sparse/products/block_operator.hpp"
#include "ayatori/tuning/report_json.hpp"
#include "c/options.hpp"

namespace ayatori::c {

namespace {

static_assert(AYATORI_CONVERGED == static_cast<int>(tuning::Status::converged) &&
              AYATORI_LEAST_SQUARES == static_cast<int>(tuning::Status::least_squares) &&
              AYATORI_NOT_CONVERGED == static_cast<int>(tuning::Status::not_converged) &&
              AYATORI_LIMITED_BY_ROUNDING == static_cast<int>(tuning::Status::limited_by_rounding) &&
              AYATORI_INTERRUPTED == static_cast<int>(tuning::Status::interrupted) &&
              AYATORI_TIME_LIMIT == static_cast<int>(tuning::Status::time_limit));
static_assert(sizeof(ayatori_result) == 56, "the module for Fortran has this number too");

/// Bytes of the shortest result that a program may have been compiled with.
constexpr std::size_t first_size = sizeof(ayatori_result);

ayatori_result result_of(const tuning::SolveReport& report) {
  return {0,
          static_cast<int>(report.status),
          report.converged() ? 1 : 0,
          report.iterations,
          report.relative_residual,
          report.residual_error_bound,
          report.seconds.total,
          report.seconds.setup};
}

ayatori_result result_of(const session::OperatorRun& run) {
  return {0,
          static_cast<int>(run.status),
          run.converged() ? 1 : 0,
          run.iterations,
          run.relative_residual,
          run.residual_error_bound,
          run.total_seconds,
          run.setup_seconds};
}

/// Result for a right-hand side that a stop, or an error, came before.
ayatori_result not_begun(ayatori_status status) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  return {0, status, 0, 0, unknown, unknown, 0, 0};
}

/// Element `k` of results that may be longer or shorter than ours, as the first one says: of another version.
void write(ayatori_result* results, std::size_t k, ayatori_result result) {
  if (results == nullptr) return;
  result.size = results->size;
  std::memcpy(reinterpret_cast<char*>(results) + k * result.size, &result,
              std::min<std::size_t>(result.size, sizeof(result)));
}

void check_result(const ayatori_result* result) {
  if (result != nullptr && result->size < first_size)
    throw InputError(
        fmt::format("the result has a size of {}: begin it with AYATORI_RESULT_INIT", result->size));
}

/// Results that were begun as they should be say nothing of an earlier solve any more.
void forget(ayatori_result* results, int count) {
  if (results == nullptr || results->size < first_size) return;
  for (int k = 0; k < count; ++k) write(results, k, not_begun(AYATORI_NOT_CONVERGED));
}

void check_vectors(const double* b, const double* x, std::int64_t rows) {
  if (rows > 0 && (b == nullptr || x == nullptr)) throw InputError(b == nullptr ? "b is NULL" : "x is NULL");
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string line_of(const tuning::SolveReport& report) {
  return fmt::format("{}: {}, {} iterations in {:.3f} s, relative residual {:.2e}\n", name_of(report.status),
                     describe(report.choice), report.iterations, report.seconds.total,
                     report.relative_residual);
}

std::string words_of(const session::OperatorRun& run) {
  return session::summary(run);
}

template <class Item, class Words>
std::string joined(const std::vector<Item>& items, const Words& words) {
  std::string text;
  for (const auto& item : items) text += words(item);
  return text;
}

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

void CallbackOperator::apply(std::span<const double> x, std::span<double> y) const {
  std::string failure;
  try {
    if (const int code = apply_.function(x.data(), y.data(), apply_.data); code != 0)
      failure = fmt::format("the operator's function returned {}", code);
  } catch (...) {
    failure = "the operator's function threw an exception";
  }
  if (failure_.empty()) failure_ = failure;
  if (has_failed()) solvers::fill(y, 0);
}

Solver::Solver(comm::Comm comm) : comm_(std::move(comm)), request_(new_request()) {}

const comm::Comm& Solver::comm() const {
  if (!comm_) throw EnvironmentError("MPI has ended, and with it the use of this solver");
  return *comm_;
}

void Solver::release() {
  last_ = {};
  operator_solver_.reset();
  matrix_.reset();
  comm_.reset();
}

void Solver::set_option(const std::string& name, const std::string& text) {
  c::set_option(request_, name, text);
  options_have_changed_ = true;
}

std::string Solver::option(const std::string& name) const {
  return text_of(option_called(name), request_);
}

void Solver::check_refusal() {
  if (!refusal_.empty()) throw InputError(std::exchange(refusal_, {}));
}

void Solver::set_index_base(int base) {
  if (base != 0 && base != 1) throw InputError(fmt::format("an index base of {}: want 0 or 1", base));
  index_base_ = base;
}

void Solver::set_coordinates(std::int64_t local_rows, const double* coordinates) {
  if (local_rows < 0) throw InputError(fmt::format("{} rows", local_rows));
  if (coordinates == nullptr)
    coordinates_.clear();
  else
    coordinates_.assign(coordinates, coordinates + 3 * local_rows);
  begins_anew_ = true;
}

/// Collective. Ranks that decide differently would wait for each other.
void Solver::check_same_options() const {
  const auto options = session::solve_options();
  std::string texts;
  for (const auto& option : options) texts += text_of(option, request_) + '\n';
  const auto first = comm().broadcast(texts, 0);
  comm::agree(comm(), [&] {
    std::size_t begin = 0;
    for (const auto& option : options) {
      const auto mine = text_of(option, request_);
      const auto theirs = first.substr(begin, first.find('\n', begin) - begin);
      begin += theirs.size() + 1;
      if (mine != theirs)
        throw InputError(fmt::format("option {} is '{}' on rank {}, but '{}' on rank 0: set it alike",
                                     option.name, mine, comm().rank(), theirs));
    }
  });
}

template <class Index>
void Solver::set_matrix(std::int64_t local_rows, std::int64_t global_columns, const Index* row_start,
                        const Index* column, const double* value) {
  comm::agree(comm(), [&] {
    check_refusal();
    if (local_rows < 0 || global_columns < 0)
      throw InputError(fmt::format("{} rows on this rank, and {} columns", local_rows, global_columns));
    if (row_start == nullptr) throw InputError("row_start is NULL");
    const std::int64_t entries = row_start[local_rows] - std::int64_t{index_base_};
    if (entries < 0) throw InputError(fmt::format("row_start ends with {}", row_start[local_rows]));
    if (entries > 0 && (column == nullptr || value == nullptr))
      throw InputError(column == nullptr ? "column is NULL" : "value is NULL");
  });
  const auto entries = static_cast<std::size_t>(row_start[local_rows] - index_base_);
  auto rows =
      session::rows_in_memory<Index>(comm(), {row_start, static_cast<std::size_t>(local_rows) + 1},
                                     {column, entries}, {value, entries}, global_columns, index_base_);
  const bool is_other =
      !matrix_ || begins_anew_ || options_have_changed_ || local_rows != matrix_->local_rows();
  if (comm().any(is_other)) {
    check_same_options();
    auto machine = session::find_profile(comm(), request_.profile, session::Measuring::where_solves_need_it);
    matrix_ = std::make_unique<session::MatrixSolver>(comm(), std::move(rows), request_, std::move(machine),
                                                      session::RowFacts{.coordinates = coordinates_});
    options_have_changed_ = begins_anew_ = false;
  } else {
    matrix_->update(std::move(rows));
  }
  operator_solver_.reset();
  last_ = {};
}

template void Solver::set_matrix(std::int64_t, std::int64_t, const std::int32_t*, const std::int32_t*,
                                 const double*);
template void Solver::set_matrix(std::int64_t, std::int64_t, const std::int64_t*, const std::int64_t*,
                                 const double*);

void Solver::set_operator(std::int64_t local_rows, Callback<ayatori_apply> apply) {
  const bool wants_one = apply.function != nullptr;
  comm::agree(comm(), [&] {
    if (local_rows < 0) throw InputError(fmt::format("{} rows", local_rows));
    if (local_rows > std::numeric_limits<std::int32_t>::max())
      throw EnvironmentError("a rank holds no more than 2^31 - 1 rows: use more ranks");
  });
  const bool any_wants_one = comm().any(wants_one);
  comm::agree(comm(), [&] {
    if (any_wants_one && !wants_one) throw InputError("the operator has a function on some ranks only");
  });
  operator_solver_.reset();
  operator_.reset();
  if (wants_one) operator_.emplace(static_cast<std::int32_t>(local_rows), apply);
  last_ = {};
}

/// Collective. What has been set since the last solve holds from now on.
void Solver::adopt_options() {
  if (!comm().any(options_have_changed_)) return;
  check_same_options();
  operator_solver_.reset();
  if (matrix_) matrix_->change(request_);
  options_have_changed_ = false;
}

/// Collective. Before a solve.
void Solver::prepare() {
  comm::agree(comm(), [&] {
    check_refusal();
    if (!matrix_ && !operator_) throw InputError("there is no matrix yet: set one, or an operator");
  });
  adopt_options();
  last_ = {};
  notes_.clear();
  failure_.clear();
  stops_ = false;
  if (operator_) operator_->take_failure();
  if (!operator_ || operator_solver_) return;
  operator_solver_.emplace(comm(), *operator_, matrix_ ? matrix_->problem().parts : nullptr, request_);
}

std::int64_t Solver::local_rows() const {
  return operator_ ? operator_->local_size() : matrix_ ? matrix_->local_rows() : 0;
}

/// Calls a function of the application's, which must not leave by an exception.
template <class Call>
void Solver::guard(const char* what, Call&& call) {
  try {
    call();
  } catch (...) {
    failure_ = fmt::format("the {} function threw an exception", what);
  }
}

session::SolveHooks Solver::hooks() {
  session::SolveHooks hooks;
  if (progress_.function != nullptr)
    hooks.progress = [this](const tuning::Choice& choice, std::int64_t iteration, double residual) {
      guard("progress",
            [&] { progress_.function(describe(choice).c_str(), iteration, residual, progress_.data); });
    };
  hooks.wants_stop = [this] {
    if (stop_.function != nullptr && !stops_)
      guard("stop", [&] { stops_ = stop_.function(stop_.data) != 0; });
    return stops_ || !failure_.empty() || (operator_ && operator_->has_failed());
  };
  hooks.note = [this](const std::string& line) { notes_.push_back(line); };
  return hooks;
}

/// Collective. What went wrong in functions of the application's on one rank becomes the error of all.
void Solver::agree_on_callbacks() {
  comm::agree(comm(), [&] {
    auto failure = operator_ ? operator_->take_failure() : std::string();
    if (failure.empty()) failure = failure_;
    if (!failure.empty()) throw InputError(fmt::format("{} (rank {})", failure, comm().rank()));
  });
}

session::OperatorRun Solver::solve_by_operator(solvers::ConstVector b, solvers::Vector x) {
  auto run = operator_solver_->solve(b, x, hooks());
  agree_on_callbacks();
  return run;
}

void Solver::solve(const double* b, double* x, ayatori_result* result) {
  forget(result, 1);
  prepare();
  comm::agree(comm(), [&] {
    check_result(result);
    check_vectors(b, x, local_rows());
  });
  const auto rows = static_cast<std::size_t>(local_rows());
  if (operator_) {
    auto run = solve_by_operator({b, rows}, {x, rows});
    write(result, 0, result_of(run));
    last_ = std::vector{std::move(run)};
  } else {
    auto run = matrix_->solve(solvers::ConstVector(b, rows), solvers::Vector(x, rows), hooks());
    agree_on_callbacks();
    write(result, 0, result_of(run.report));
    last_ = std::move(run);
  }
}

void Solver::solve_many(int count, const double* const* b, double* const* x, ayatori_result* results) {
  forget(results, count);
  prepare();
  const std::int64_t most = comm().allreduce(std::int64_t{count}, comm::ReduceOp::max);
  comm::agree(comm(), [&] {
    if (count < 0 || count != most)
      throw InputError(fmt::format("{} right-hand sides on this rank, {} on another", count, most));
    check_result(results);
    if (count > 0 && (b == nullptr || x == nullptr)) throw InputError("the list of b or of x is NULL");
    for (int k = 0; k < count; ++k) check_vectors(b[k], x[k], local_rows());
  });
  const auto rows = static_cast<std::size_t>(local_rows());
  std::size_t begun = 0;
  if (operator_) {
    std::vector<session::OperatorRun> runs;
    for (int k = 0; k < count; ++k) {
      runs.push_back(solve_by_operator({b[k], rows}, {x[k], rows}));
      write(results, begun++, result_of(runs.back()));
      if (runs.back().status == tuning::Status::interrupted) break;
    }
    last_ = std::move(runs);
  } else {
    std::vector<solvers::ConstVector> all_b;
    std::vector<solvers::Vector> all_x;
    for (int k = 0; k < count; ++k) {
      all_b.emplace_back(b[k], rows);
      all_x.emplace_back(x[k], rows);
    }
    Many many;
    if (count > 0) many.reports = matrix_->solve(all_b, all_x, sparse::max_block_width, hooks());
    agree_on_callbacks();
    for (const auto& report : many.reports) write(results, begun++, result_of(report));
    last_ = std::move(many);
  }
  while (begun < static_cast<std::size_t>(count)) write(results, begun++, not_begun(AYATORI_INTERRUPTED));
}

std::string Solver::report_json() const {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](const session::SolveRun& run) { return dump(to_json(run)); },
                               [](const Many& many) {
                                 auto json = nlohmann::ordered_json::array();
                                 for (const auto& report : many.reports)
                                   json.push_back(tuning::to_json(report));
                                 return dump(json);
                               },
                               [](const std::vector<session::OperatorRun>& runs) {
                                 if (runs.size() == 1) return dump(to_json(runs.front()));
                                 auto json = nlohmann::ordered_json::array();
                                 for (const auto& run : runs) json.push_back(to_json(run));
                                 return dump(json);
                               }},
                    last_);
}

std::string Solver::summary() const {
  auto text = std::visit(
      Overloaded{[](std::monostate) { return std::string(); },
                 [](const session::SolveRun& run) { return session::summary(run); },
                 [](const Many& many) { return joined(many.reports, line_of); },
                 [](const std::vector<session::OperatorRun>& runs) { return joined(runs, words_of); }},
      last_);
  for (const auto& note : notes_) text += note + '\n';
  return text;
}

std::string Solver::explanation() const {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string(); },
                 [](const session::SolveRun& run) { return session::explanation(run); },
                 [](const Many& many) {
                   return joined(many.reports, [](const auto& report) { return report.why + '\n'; });
                 },
                 [](const std::vector<session::OperatorRun>& runs) { return joined(runs, words_of); }},
      last_);
}

std::string Solver::reuse() const {
  const auto reuse = matrix_ ? matrix_->reuse() : std::nullopt;
  return reuse ? describe(*reuse) : "";
}

}  // namespace ayatori::c
