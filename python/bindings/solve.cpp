#include "ayatori/session/solve/matrix_solver.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi_holder.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/solve/linear_preconditioner.hpp"
#include "ayatori/session/terminal/progress_line.hpp"
#include "python/bindings/options.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using Progress = std::function<void(const std::string& choice, std::int64_t iteration, double residual)>;

/// What Python asks of a solve.
struct Options {
  session::SolveRequest request;
  std::string profile;              ///< as JSON; empty without one
  std::string profile_name;         ///< where it comes from
  std::vector<double> coordinates;  ///< of own rows, [3 * row + axis]; empty if not given

  void set(const std::string& name, const nb::object& value) {
    set_option(session::solve_options(), request, name, value);
  }
};

/// Collective. Throws on all ranks what one has to say.
void agree_on(const comm::Comm& comm, const std::string& complaint) {
  comm::agree(comm, [&] {
    if (!complaint.empty()) throw InputError(complaint);
  });
}

/// A matrix as the core keeps it, spread over the ranks of a communicator, with what solves have set up.
class Solver final : public comm::MpiHolder {
 public:
  Solver(const InputIndices& start, const InputIndices& column, const InputVector& value,
         std::int64_t columns, std::uintptr_t comm, Options options) {
    const CoreCall call;
    const auto ranks = communicator(comm);
    solver_.emplace(ranks, make_rows(ranks, start, column, value, columns), std::move(options.request),
                    find_profile(ranks, options.profile, options.profile_name),
                    std::move(options.coordinates));
    rows_ = solver_->rows();
  }

  /// Collective. Other values from now on; another pattern begins anew. As many rows as before.
  void update(const InputIndices& start, const InputIndices& column, const InputVector& value,
              std::int64_t columns) {
    const CoreCall call;
    live().update(make_rows(live().comm(), start, column, value, columns));
  }

  /// Collective. x is the starting guess, and becomes the best x found. `shows_line`: as the command line
  /// shows how far it is, on rank 0.
  session::SolveRun solve(const InputVector& b, const InOutVector& x, std::optional<Progress> progress,
                          bool shows_line) {
    Interruption interruption;
    std::optional<session::SolveRun> run;
    {
      const CoreCall call;
      run = solve_without_gil(span_of(b), span_of(x), progress ? *progress : Progress(), shows_line,
                              interruption);
    }
    interruption.rethrow();
    return *std::move(run);
  }

  /// Collective. Throws on all ranks what one has to say.
  void agree(const std::string& complaint) {
    const CoreCall call;
    agree_on(live().comm(), complaint);
  }

  /// Other than the number of rows, nothing is left.
  void release() override { solver_.reset(); }

  /// Of set-ups, in one line.
  std::string reuse() const {
    const auto reuse = solver_ ? solver_->reuse() : std::nullopt;
    return reuse ? describe(*reuse) : "";
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t local_rows() { return live().local_rows(); }
  int ranks() { return live().comm().size(); }

 private:
  session::MatrixSolver& live() {
    if (!solver_) throw EnvironmentError("MPI has ended, and with it the use of this solver");
    return *solver_;
  }

  session::SolveRun solve_without_gil(solvers::ConstVector b, solvers::Vector x, const Progress& progress,
                                      bool shows_line, Interruption& interruption) {
    auto line = progress_line(shows_line && live().comm().rank() == 0);
    const session::SolveHooks hooks{
        .progress =
            [&](const tuning::Choice& choice, std::int64_t iteration, double residual) {
              if (shows_line) line.show(describe(choice), iteration, residual);
              if (progress) interruption.guard([&] { progress(describe(choice), iteration, residual); });
            },
        .event = {},
        .wants_stop = [&] { return interruption.wants_stop(); },
        .note =
            [&](const std::string& text) {
              interruption.guard([&] {
                if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw nb::python_error();
              });
            },
        .uninterrupted = {}};
    return live().solve(b, x, hooks);
  }

  session::ProgressLine progress_line(bool speaks) {
    const auto write = [](const std::string& text) {
      std::fputs(text.c_str(), stderr);
      std::fflush(stderr);
    };
    return session::ProgressLine(speaks ? session::ProgressLine::Write(write) : nullptr,
                                 live().request().rtol);
  }

  /// Collective. That of rank 0.
  static session::FoundProfile find_profile(const comm::Comm& comm, const std::string& profile,
                                            const std::string& name) {
    const auto text = comm.broadcast(profile, 0);
    return comm::agree(comm, [&]() -> session::FoundProfile {
      if (text.empty()) return {};
      return {
          std::make_shared<const machine::Profile>(machine::profile_from_json(text, "the machine's profile")),
          name};
    });
  }

  std::optional<session::MatrixSolver> solver_;  ///< none when MPI has ended
  std::int64_t rows_ = 0;
};

/// A linear preconditioner of a matrix that is spread over the ranks of a communicator.
class Preconditioner final : public comm::MpiHolder {
 public:
  Preconditioner(const InputIndices& start, const InputIndices& column, const InputVector& value,
                 std::int64_t columns, std::uintptr_t comm, Options options) {
    const CoreCall call;
    ranks_.emplace(communicator(comm));
    const auto rows = make_rows(*ranks_, start, column, value, columns);
    built_.emplace(*ranks_, rows, options.request, std::move(options.coordinates));
    rows_ = rows.global_rows;
    local_rows_ = rows.rows();
  }

  /// Collective. z = M r, both with as many elements as this rank has rows.
  void apply(const InputVector& r, const InOutVector& z) const {
    const CoreCall call;
    live();
    built_->apply(span_of(r), span_of(z));
  }

  /// Collective. Throws on all ranks what one has to say.
  void agree(const std::string& complaint) const {
    const CoreCall call;
    agree_on(live(), complaint);
  }

  void release() override {
    built_.reset();
    ranks_.reset();
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t local_rows() const { return local_rows_; }
  std::string name() const { return built_ ? built_->name() : ""; }
  std::string why() const { return built_ ? built_->why() : ""; }
  bool is_symmetric() const { return built_ && built_->is_symmetric(); }
  int ranks() const { return live().size(); }

 private:
  const comm::Comm& live() const {
    if (!ranks_) throw EnvironmentError("MPI has ended, and with it the use of this preconditioner");
    return *ranks_;
  }

  std::optional<comm::Comm> ranks_;  ///< none when MPI has ended
  std::optional<session::LinearPreconditioner> built_;
  std::int64_t rows_ = 0;
  std::int64_t local_rows_ = 0;
};

/// A file's or generator's matrix as the arrays of compressed sparse rows, with its number of columns.
auto load(const std::string& source) {
  sparse::RowBlock block;
  {
    const CoreCall call;
    block = io::load_matrix(communicator(0), source).block;
  }
  const auto columns = block.global_columns;
  return nb::make_tuple(to_numpy(std::move(block.row_start)), to_numpy(std::move(block.column)),
                        to_numpy(std::move(block.value)), columns);
}

}  // namespace

void bind_solve(nb::module_& module) {
  nb::class_<Options>(module, "Options")
      .def(nb::init<>())
      .def("set", &Options::set, nb::arg("name"), nb::arg("value"))
      .def_rw("profile", &Options::profile)
      .def_rw("profile_name", &Options::profile_name)
      .def_rw("coordinates", &Options::coordinates);
  module.def("solve_options", [] { return table_of(session::solve_options()); });
  // Made when they are asked for: a small system is solved in less time.
  nb::class_<session::SolveRun>(module, "SolveRun")
      .def_prop_ro("status",
                   [](const session::SolveRun& run) { return std::string(name_of(run.report.status)); })
      .def_prop_ro("converged", [](const session::SolveRun& run) { return run.report.converged(); })
      .def_prop_ro("report", [](const session::SolveRun& run) { return to_json(run).dump(); })
      .def_prop_ro("summary", [](const session::SolveRun& run) { return summary(run); })
      .def_prop_ro("explanation", [](const session::SolveRun& run) { return explanation(run); });
  nb::class_<Solver>(module, "Solver")
      .def(nb::init<const InputIndices&, const InputIndices&, const InputVector&, std::int64_t,
                    std::uintptr_t, Options>(),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"), nb::arg("comm"),
           nb::arg("options"))
      .def("update", &Solver::update, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
           nb::arg("columns"))
      .def_prop_ro("reuse", &Solver::reuse)
      .def("solve", &Solver::solve, nb::arg("b"), nb::arg("x").noconvert(), nb::arg("progress").none(),
           nb::arg("shows_line"))
      .def("agree", &Solver::agree, nb::arg("complaint"))
      .def_prop_ro("rows", &Solver::rows)
      .def_prop_ro("local_rows", &Solver::local_rows)
      .def_prop_ro("ranks", &Solver::ranks);
  nb::class_<Preconditioner>(module, "Preconditioner")
      .def(nb::init<const InputIndices&, const InputIndices&, const InputVector&, std::int64_t,
                    std::uintptr_t, Options>(),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"), nb::arg("comm"),
           nb::arg("options"))
      .def("apply", &Preconditioner::apply, nb::arg("r"), nb::arg("z").noconvert())
      .def("agree", &Preconditioner::agree, nb::arg("complaint"))
      .def_prop_ro("ranks", &Preconditioner::ranks)
      .def_prop_ro("rows", &Preconditioner::rows)
      .def_prop_ro("local_rows", &Preconditioner::local_rows)
      .def_prop_ro("name", &Preconditioner::name)
      .def_prop_ro("why", &Preconditioner::why)
      .def_prop_ro("is_symmetric", &Preconditioner::is_symmetric);
  module.def(
      "agree",
      [](std::uintptr_t comm, const std::string& complaint) {
        const CoreCall call;
        agree_on(communicator(comm), complaint);
      },
      nb::arg("comm"), nb::arg("complaint"));
  module.def("load", &load, nb::arg("source"));
}

}  // namespace ayatori::python
