#include "ayatori/session/solve/matrix_solver.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi_holder.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"
#include "python/bindings/solve_call.hpp"

namespace ayatori::python {

namespace {

/// A matrix as the core keeps it, spread over the ranks of a communicator, with what solves have set up.
class Solver final : public comm::MpiHolder {
 public:
  Solver(const InputIndices& start, const InputIndices& column, const InputVector& value,
         std::int64_t columns, std::uintptr_t comm, Options options) {
    const CoreCall call;
    const auto ranks = communicator(comm);
    solver_.emplace(ranks, make_rows(ranks, start, column, value, columns), std::move(options.request),
                    find_profile(ranks, options.profile, options.profile_name), std::move(options.known));
    rows_ = solver_->rows();
  }

  /// Collective. Other values from now on; another pattern begins anew. As many rows as before.
  void update(const InputIndices& start, const InputIndices& column, const InputVector& value,
              std::int64_t columns) {
    const CoreCall call;
    live().update(make_rows(live().comm(), start, column, value, columns));
  }

  /// Collective. For one right-hand side or several: the last one first, whose run is the result, then the
  /// others, as many at a time as may be. There are fewer of those in the run where it was stopped. Each x is
  /// the starting guess, and becomes the best x found. `shows_line`: as the command line shows how far it is,
  /// on rank 0.
  session::SolveRun solve(const std::vector<InputVector>& b, const std::vector<InOutVector>& x,
                          int most_at_once, std::optional<Progress> progress, bool shows_line) {
    Interruption interruption;
    std::optional<session::SolveRun> run;
    {
      const CoreCall call;
      const auto told = progress ? *progress : Progress();
      auto line = progress_line(shows_line && live().comm().rank() == 0, live().request().rtol);
      const auto hooks = make_hooks(told, shows_line, line, interruption);
      run = live().solve(span_of(b.back()), span_of(x.back()), hooks);
      std::vector<solvers::ConstVector> other_b;
      std::vector<solvers::Vector> other_x;
      for (std::size_t k = 0; k + 1 < b.size(); ++k) {
        other_b.emplace_back(span_of(b[k]));
        other_x.emplace_back(span_of(x[k]));
      }
      const auto status = run->report.status;
      if (status != tuning::Status::interrupted && status != tuning::Status::time_limit)
        for (const auto& report : live().solve(other_b, other_x, most_at_once, hooks))
          run->earlier.push_back(
              session::earlier_solve(fmt::format("column {}", run->earlier.size()), report, ""));
      run->reuse = *live().reuse();
      interruption.agree(live().comm());
      if (b.size() > 1) run->rhs = fmt::format("column {}", b.size() - 1);
    }
    interruption.rethrow();
    return *std::move(run);
  }

  /// Collective. Of an x that may be anyone's.
  session::Verified verify(const InputVector& b, const InputVector& x) {
    const CoreCall call;
    return live().verify(span_of(b), span_of(x));
  }

  /// Collective. Throws on all ranks what one has to say.
  void agree(const std::string& complaint) {
    const CoreCall call;
    agree_on(live().comm(), complaint);
  }

  /// Other than the number of rows, nothing is left.
  void release() override { solver_.reset(); }

  /// How often set-ups were reused, in one line.
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

}  // namespace

void bind_solve(nb::module_& module) {
  nb::class_<session::Verified>(module, "Verified")
      .def_ro("relative_residual", &session::Verified::relative_residual)
      .def_ro("residual_error_bound", &session::Verified::residual_error_bound)
      .def_ro("meets_tolerance", &session::Verified::meets_tolerance);
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
      .def("solve", &Solver::solve, nb::arg("b"), nb::arg("x").noconvert(), nb::arg("most_at_once"),
           nb::arg("progress").none(), nb::arg("shows_line"))
      .def("verify", &Solver::verify, nb::arg("b"), nb::arg("x"))
      .def("agree", &Solver::agree, nb::arg("complaint"))
      .def_prop_ro("rows", &Solver::rows)
      .def_prop_ro("local_rows", &Solver::local_rows)
      .def_prop_ro("ranks", &Solver::ranks);
}

}  // namespace ayatori::python
