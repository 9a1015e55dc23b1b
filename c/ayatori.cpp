#include "c/ayatori.h"

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/session/build_info.hpp"
#include "c/options.hpp"
#include "c/solver.hpp"

// The functions of the interface: each catches all, keeps the text of an error, and leaves the rest to
// c::Solver.

struct ayatori_solver {
  explicit ayatori_solver(ayatori::comm::Comm comm) : core(std::move(comm)) {}

  ayatori::c::Solver core;
  std::string error;
  std::string text;      ///< that was asked for last
  bool is_busy = false;  ///< calls of callbacks are refused
};

namespace {

using ayatori::InputError;

/// Error of the last call without a solver.
std::string& error_without_solver() {
  thread_local std::string text;
  return text;
}

void keep(std::string& place, const char* text) noexcept {
  try {
    place = ayatori::c::in_words_of_c(text);
  } catch (...) {
    place.clear();
  }
}

/// Runs `call`, whose exceptions become a code and a text.
template <class Call>
int code_of(std::string& error, Call&& call) noexcept {
  try {
    call();
    error.clear();
    return AYATORI_OK;
  } catch (const ayatori::Error& failure) {
    keep(error, failure.what());
    return static_cast<int>(failure.kind());
  } catch (const std::bad_alloc&) {
    keep(error, "out of memory: use more nodes, or a smaller problem");
    return AYATORI_ENVIRONMENT;
  } catch (const std::exception& failure) {
    keep(error, failure.what());
    return AYATORI_INTERNAL;
  } catch (...) {
    keep(error, "an unknown exception");
    return AYATORI_INTERNAL;
  }
}
static_assert(AYATORI_BAD_INPUT == static_cast<int>(ayatori::ErrorKind::bad_input) &&
              AYATORI_ENVIRONMENT == static_cast<int>(ayatori::ErrorKind::environment) &&
              AYATORI_INTERNAL == static_cast<int>(ayatori::ErrorKind::internal));

/// Marks a solver as at work. Throws InputError where it is.
class Work {
 public:
  explicit Work(ayatori_solver& solver) : solver_(solver) {
    if (solver.is_busy) throw InputError("a callback calls the solver that called it");
    solver.is_busy = true;
  }
  ~Work() { solver_.is_busy = false; }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 private:
  ayatori_solver& solver_;
};

/// The same with a solver, which may be NULL, and is at work meanwhile.
template <class Call>
int code_with(ayatori_solver* solver, Call&& call) noexcept {
  if (solver == nullptr)
    return code_of(error_without_solver(), [] { throw InputError("the solver is NULL"); });
  return code_of(solver->error, [&] {
    const Work work(*solver);
    call(solver->core);
  });
}

/// The text that `ask` gives, as long as the solver keeps it; `otherwise` where it fails.
template <class Ask>
const char* text_with(ayatori_solver* solver, const char* otherwise, Ask&& ask) noexcept {
  const int code = code_with(solver, [&](ayatori::c::Solver& core) { solver->text = ask(core); });
  return code == AYATORI_OK ? solver->text.c_str() : otherwise;
}

/// Collective.
template <class MakeComm>
int create(ayatori_solver** solver, MakeComm&& make_comm) noexcept {
  return code_of(error_without_solver(), [&] {
    if (solver == nullptr) throw InputError("there is no place for the solver: it is NULL");
    *solver = nullptr;
    *solver = std::make_unique<ayatori_solver>(make_comm()).release();
  });
}

}  // namespace

int ayatori_create(const void* comm, ayatori_solver** solver) {
  return create(solver, [&] { return ayatori::c::communicator(comm); });
}

int ayatori_create_f(int fortran_comm, ayatori_solver** solver) {
  return create(solver, [&] { return ayatori::c::fortran_communicator(fortran_comm); });
}

void ayatori_destroy(ayatori_solver* solver) {
  if (solver == nullptr || solver->is_busy) return;
  code_of(error_without_solver(), [&] { delete solver; });
}

int ayatori_set_option(ayatori_solver* solver, const char* name, const char* value) {
  return code_with(solver, [&](auto& core) {
    if (name == nullptr || value == nullptr) throw InputError("the name of an option or its value is NULL");
    core.set_option(name, value);
  });
}

const char* ayatori_get_option(ayatori_solver* solver, const char* name) {
  return text_with(solver, nullptr, [&](auto& core) {
    if (name == nullptr) throw InputError("the name of an option is NULL");
    return core.option(name);
  });
}

const ayatori_option* ayatori_option_at(int index) {
  const ayatori_option* option = nullptr;
  code_of(error_without_solver(), [&] { option = ayatori::c::described_option(index); });
  return option;
}

int ayatori_set_matrix_i32(ayatori_solver* solver, int64_t local_rows, int64_t global_columns,
                           const int32_t* row_start, const int32_t* column, const double* value) {
  return code_with(
      solver, [&](auto& core) { core.set_matrix(local_rows, global_columns, row_start, column, value); });
}

int ayatori_set_matrix_i64(ayatori_solver* solver, int64_t local_rows, int64_t global_columns,
                           const int64_t* row_start, const int64_t* column, const double* value) {
  return code_with(
      solver, [&](auto& core) { core.set_matrix(local_rows, global_columns, row_start, column, value); });
}

int64_t ayatori_local_rows(ayatori_solver* solver) {
  int64_t rows = 0;
  code_with(solver, [&](auto& core) { rows = core.local_rows(); });
  return rows;
}

int ayatori_refuse_next(ayatori_solver* solver, const char* why) {
  return code_with(solver,
                   [&](auto& core) { core.refuse_next(why != nullptr ? why : "an array is too short"); });
}

int ayatori_set_index_base(ayatori_solver* solver, int base) {
  return code_with(solver, [&](auto& core) { core.set_index_base(base); });
}

int ayatori_set_coordinates(ayatori_solver* solver, int64_t local_rows, const double* coordinates) {
  return code_with(solver, [&](auto& core) { core.set_coordinates(local_rows, coordinates); });
}

int ayatori_set_operator(ayatori_solver* solver, int64_t local_rows, ayatori_apply apply, void* data) {
  return code_with(solver, [&](auto& core) { core.set_operator(local_rows, {apply, data}); });
}

int ayatori_solve(ayatori_solver* solver, const double* b, double* x, ayatori_result* result) {
  return code_with(solver, [&](auto& core) { core.solve(b, x, result); });
}

int ayatori_solve_many(ayatori_solver* solver, int count, const double* const* b, double* const* x,
                       ayatori_result* results) {
  return code_with(solver, [&](auto& core) { core.solve_many(count, b, x, results); });
}

int ayatori_set_progress(ayatori_solver* solver, ayatori_progress progress, void* data) {
  return code_with(solver, [&](auto& core) { core.set_progress({progress, data}); });
}

int ayatori_set_stop(ayatori_solver* solver, ayatori_stop stop, void* data) {
  return code_with(solver, [&](auto& core) { core.set_stop({stop, data}); });
}

const char* ayatori_report_json(ayatori_solver* solver) {
  return text_with(solver, "", [](auto& core) { return core.report_json(); });
}

const char* ayatori_summary(ayatori_solver* solver) {
  return text_with(solver, "", [](auto& core) { return core.summary(); });
}

const char* ayatori_explanation(ayatori_solver* solver) {
  return text_with(solver, "", [](auto& core) { return core.explanation(); });
}

const char* ayatori_reuse(ayatori_solver* solver) {
  return text_with(solver, "", [](auto& core) { return core.reuse(); });
}

const char* ayatori_error_text(const ayatori_solver* solver) {
  return solver != nullptr ? solver->error.c_str() : error_without_solver().c_str();
}

const char* ayatori_status_text(int status) {
  static const std::array<std::string, 6> texts = [] {
    std::array<std::string, 6> names;
    for (int i = 0; i < 6; ++i) names[i] = name_of(static_cast<ayatori::tuning::Status>(i));
    return names;
  }();
  return status >= 0 && status < static_cast<int>(texts.size()) ? texts[status].c_str() : "unknown";
}

const char* ayatori_version(void) {
  return ayatori::version;
}

const char* ayatori_build_info(void) {
  static const std::string text = to_json(ayatori::session::build_info()).dump();
  return text.c_str();
}
