#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ayatori/comm/mpi_holder.hpp"
#include "ayatori/session/solve/matrix_solver.hpp"
#include "ayatori/session/solve/operator_solver.hpp"
#include "c/ayatori.h"
#include "c/runtime.hpp"

namespace ayatori::c {

/// A function of the application's with its data.
template <class Function>
struct Callback {
  Function function = nullptr;
  void* data = nullptr;
};

/// y = A x by a function of the application's. One that fails is called on as the others are, as it may
/// communicate; its products are zeros from then on.
class CallbackOperator final : public sparse::LinearOperator {
 public:
  CallbackOperator(std::int32_t rows, Callback<ayatori_apply> apply) : rows_(rows), apply_(apply) {}

  void apply(std::span<const double> x, std::span<double> y) const override;
  std::int32_t local_size() const override { return rows_; }

  /// What went wrong since the last call of this; empty if nothing did.
  std::string take_failure() { return std::exchange(failure_, {}); }
  bool has_failed() const { return !failure_.empty(); }

 private:
  std::int32_t rows_;
  Callback<ayatori_apply> apply_;
  mutable std::string failure_;
};

/// What a handle of the interface stands for. Functions throw Error, agreed where they are collective.
class Solver final : public comm::MpiHolder {
 public:
  explicit Solver(comm::Comm comm);

  void set_option(const std::string& name, const std::string& text);
  std::string option(const std::string& name) const;
  void set_index_base(int base);
  void set_coordinates(std::int64_t local_rows, const double* coordinates);
  void set_progress(Callback<ayatori_progress> progress) { progress_ = progress; }
  void set_stop(Callback<ayatori_stop> stop) { stop_ = stop; }
  /// The next collective call that takes arrays throws InputError with this text.
  void refuse_next(std::string why) { refusal_ = std::move(why); }
  std::int64_t local_rows() const;

  /// Collective.
  template <class Index>
  void set_matrix(std::int64_t local_rows, std::int64_t global_columns, const Index* row_start,
                  const Index* column, const double* value);
  /// Collective. Without a function: none.
  void set_operator(std::int64_t local_rows, Callback<ayatori_apply> apply);
  /// Collective.
  void solve(const double* b, double* x, ayatori_result* result);
  void solve_many(int count, const double* const* b, double* const* x, ayatori_result* results);

  std::string report_json() const;
  std::string summary() const;
  std::string explanation() const;
  std::string reuse() const;

  void release() override;

 private:
  struct Many {
    std::vector<tuning::SolveReport> reports;
  };
  using Last = std::variant<std::monostate, session::SolveRun, Many, std::vector<session::OperatorRun>>;

  const comm::Comm& comm() const;
  void check_refusal();
  void check_same_options() const;
  void adopt_options();
  void prepare();
  session::SolveHooks hooks();
  template <class Call>
  void guard(const char* what, Call&& call);
  void agree_on_callbacks();
  session::OperatorRun solve_by_operator(solvers::ConstVector b, solvers::Vector x);

  std::optional<comm::Comm> comm_;  ///< none when MPI has ended
  session::SolveRequest request_;
  bool options_have_changed_ = true;  ///< since they were adopted
  bool begins_anew_ = true;           ///< with the next matrix
  int index_base_ = 0;
  std::vector<double> coordinates_;
  Callback<ayatori_progress> progress_;
  Callback<ayatori_stop> stop_;
  std::unique_ptr<session::MatrixSolver> matrix_;
  std::optional<CallbackOperator> operator_;
  std::optional<session::OperatorSolver> operator_solver_;  ///< made by the first solve
  Last last_;
  std::vector<std::string> notes_;  ///< notes of the last solve, on rank 0
  std::string failure_;             ///< what failed in a callback
  std::string refusal_;             ///< what a binding refused, for the next call
  bool stops_ = false;              ///< as it has asked for it
};

}  // namespace ayatori::c
