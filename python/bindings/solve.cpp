#include "ayatori/tuning/solve.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/tuning/history.hpp"
#include "ayatori/tuning/solver.hpp"
#include "cli/progress_line.hpp"
#include "cli/solve_report.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

template <class Index>
void copy_rows(const Index* start, const Index* column, std::int64_t rows, std::int64_t nonzeros,
               sparse::RowBlock& block) {
  if (start[0] != 0 || start[rows] != nonzeros)
    throw InputError(fmt::format("row pointers go from {} to {}, but there are {} entries",
                                 std::int64_t{start[0]}, std::int64_t{start[rows]}, nonzeros));
  parallel_ranges_throwing(rows, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t begin = start[i];
      const std::int64_t end = start[i + 1];
      if (begin < 0 || end < begin || end > nonzeros)
        throw InputError(fmt::format("row pointer {} is {} after {}", i + 1, end, begin));
      block.row_start[i + 1] = end;
      std::int64_t last = -1;
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t j = column[k];
        if (j <= last || j >= block.global_columns)
          throw InputError(fmt::format("row {} has column {} after {}: columns ascend below {}", i, j, last,
                                       block.global_columns));
        block.column[k] = last = j;
      }
    }
  });
}

/// Collective. This rank's rows, copied; ranks hold them in order.
sparse::RowBlock make_block(const comm::Comm& comm, const InputIndices& start, const InputIndices& column,
                            const InputVector& value, std::int64_t columns) {
  const std::int64_t rows = static_cast<std::int64_t>(start.size()) - 1;
  sparse::RowBlock block;
  block.first_row = comm.exclusive_sum(rows);
  block.global_rows = comm.allreduce(rows, comm::ReduceOp::sum);
  block.global_columns = comm.allreduce(columns, comm::ReduceOp::max);
  comm::agree(comm, [&] {
    if (columns != block.global_columns)
      throw InputError(
          fmt::format("one rank's rows have {} columns, another's {}", columns, block.global_columns));
    const auto nonzeros = static_cast<std::int64_t>(value.size());
    if (rows < 0 || column.size() != value.size() || start.dtype() != column.dtype())
      throw InputError("these are not the arrays of compressed sparse rows");
    block.row_start.resize(rows + 1);
    block.row_start[0] = 0;
    block.column.resize(nonzeros);
    block.value.resize(nonzeros);
    if (start.dtype() == nb::dtype<std::int64_t>())
      copy_rows(static_cast<const std::int64_t*>(start.data()),
                static_cast<const std::int64_t*>(column.data()), rows, nonzeros, block);
    else if (start.dtype() == nb::dtype<std::int32_t>())
      copy_rows(static_cast<const std::int32_t*>(start.data()),
                static_cast<const std::int32_t*>(column.data()), rows, nonzeros, block);
    else
      throw InputError("indices are int32 or int64");
    parallel_for(nonzeros, [&](std::int64_t k) { block.value[k] = value.data()[k]; });
  });
  return block;
}

struct Options {
  double rtol = 1e-8;
  std::int64_t max_iterations = 0;
  double time_limit = 0;
  double tuning_share = 0.1;
  int threads = 0;
  std::optional<std::string> method;
  std::optional<std::string> preconditioner;
  std::optional<int> restart;
  std::optional<std::string> orthogonalization;
  std::optional<std::string> kernel;
  std::optional<std::string> halo;
  std::vector<std::string> excluded;
  std::string profile;       ///< as JSON; empty without one
  std::string profile_name;  ///< where it comes from
  std::function<void(const std::string&, std::int64_t, double)> progress;
  bool progress_line = false;  ///< as the command line shows it, on rank 0
};

/// A matrix as the core keeps it, spread over the ranks of a communicator, with what solves have set up.
class Solver final : public MpiHolder {
 public:
  Solver(const InputIndices& start, const InputIndices& column, const InputVector& value,
         std::int64_t columns, std::uintptr_t comm) {
    const CoreCall call;
    comm_ = communicator(comm);
    parts_ = make_parts(start, column, value, columns);
  }

  /// Collective. Other values from now on; another pattern begins anew. As many rows as before.
  void update(const InputIndices& start, const InputIndices& column, const InputVector& value,
              std::int64_t columns) {
    const CoreCall call;
    auto parts = make_parts(start, column, value, columns);
    comm::agree(live_comm(), [&] {
      if (parts->partition != parts_->partition)
        throw InputError(
            fmt::format("the new matrix has {} rows, the old one {}, or they are spread in another way",
                        parts->partition.rows(), rows()));
    });
    parts_ = std::move(parts);
    if (solver_) solver_->update(parts_);
  }

  /// Collective. x is the starting guess, and becomes the best x found. Gives the report as JSON text of
  /// schema ayatori.solve/1, its summary and its explanation. The options of the first solve stay, but for
  /// progress.
  std::tuple<std::string, std::string, std::string> solve(const InputVector& b, const InOutVector& x,
                                                          const Options& options) {
    Interruption interruption;
    std::tuple<std::string, std::string, std::string> result;
    {
      const CoreCall call;
      result = solve_without_gil(span_of(b), span_of(x), options, interruption);
    }
    interruption.rethrow();
    return result;
  }

  /// Collective. Throws on all ranks what one has to say.
  void agree(const std::string& complaint) const {
    const CoreCall call;
    comm::agree(live_comm(), [&] {
      if (!complaint.empty()) throw InputError(complaint);
    });
  }

  /// Other than rows, nothing is left.
  void release() override {
    solver_.reset();
    comm_.reset();
  }

  /// Of set-ups, in one line.
  std::string reuse() const { return solver_ ? describe(solver_->reuse()) : ""; }

  std::int64_t rows() const { return parts_->partition.rows(); }
  std::int64_t local_rows() const { return parts_->plan.local_size; }
  int ranks() const { return live_comm().size(); }

 private:
  const comm::Comm& live_comm() const {
    if (!comm_) throw EnvironmentError("MPI has ended, and with it the use of this solver");
    return *comm_;
  }

  std::tuple<std::string, std::string, std::string> solve_without_gil(solvers::ConstVector b,
                                                                      solvers::Vector x,
                                                                      const Options& options,
                                                                      Interruption& interruption) {
    const Stopwatch total;
    comm::agree(live_comm(), [&] {
      const auto rows = static_cast<std::size_t>(local_rows());
      if (b.size() != rows || x.size() != rows)
        throw InputError(
            fmt::format("b has {} elements and x has {}, but there are {} rows", b.size(), x.size(), rows));
    });
    const ThreadCount threads(live_comm(), options.threads);
    prepare(options, threads.threads());
    tuning::History history;
    cli::ProgressLine line(options.progress_line && live_comm().rank() == 0, options.rtol);
    const tuning::SolveHooks hooks{
        .progress =
            [&](const tuning::Choice& choice, std::int64_t iteration, double residual) {
              history.add(choice, iteration, residual);
              if (options.progress_line) line.show(describe(choice), iteration, residual);
              if (options.progress)
                interruption.guard([&] { options.progress(describe(choice), iteration, residual); });
            },
        .event = {},
        .wants_stop = [&] { return interruption.wants_stop(); },
        .clock = {}};
    const auto solve = [&] {
      try {
        return solver_->solve(b, x, hooks);
      } catch (...) {
        solver_.reset();  // what it keeps may be half made
        throw;
      }
    };
    cli::SolveRun run{.report = solve(),
                      .source = {.name = "memory", .format = "memory"},
                      .rtol = options.rtol,
                      .ranks = live_comm().size(),
                      .threads = threads.threads(),
                      .partition = "contiguous",
                      .placement = {},
                      .machine = profile_,
                      .profile = profile_ ? options.profile_name : "",
                      .collectives = {},
                      .rhs = "memory",
                      .history = std::move(history),
                      .read_seconds = 0,
                      .total_seconds = total.seconds(),
                      .true_error = {},
                      .output = {}};
    return {to_json(run).dump(), summary(run), explanation(run)};
  }

  /// Collective. A solver for so many threads: set-ups are spread over them.
  void prepare(const Options& options, int threads) {
    if (live_comm().any(threads != threads_)) solver_.reset();
    threads_ = threads;
    if (solver_) return;
    profile_ = find_profile(options);
    tuning::SolveOptions solve_options{.rtol = options.rtol,
                                       .max_iterations = options.max_iterations,
                                       .time_limit = options.time_limit,
                                       .tuning_share = options.tuning_share,
                                       .may_use_one_rank = true,
                                       .forced = {.method = options.method,
                                                  .preconditioner = options.preconditioner,
                                                  .restart = options.restart,
                                                  .orthogonalization = options.orthogonalization,
                                                  .kernel = options.kernel,
                                                  .halo = options.halo,
                                                  .excluded = options.excluded},
                                       .profile = profile_};
    solver_.emplace(live_comm(), parts_, std::move(solve_options));
  }

  std::shared_ptr<const sparse::SplitMatrix> make_parts(const InputIndices& start, const InputIndices& column,
                                                        const InputVector& value,
                                                        std::int64_t columns) const {
    return std::make_shared<const sparse::SplitMatrix>(
        sparse::split(live_comm(), make_block(live_comm(), start, column, value, columns)));
  }

  /// Collective. That of rank 0.
  std::shared_ptr<const machine::Profile> find_profile(const Options& options) const {
    const auto text = live_comm().broadcast(options.profile, 0);
    return comm::agree(live_comm(), [&]() -> std::shared_ptr<const machine::Profile> {
      if (text.empty()) return nullptr;
      return std::make_shared<const machine::Profile>(
          machine::profile_from_json(text, "the machine's profile"));
    });
  }

  std::optional<comm::Comm> comm_;
  std::shared_ptr<const sparse::SplitMatrix> parts_;
  int threads_ = 0;  ///< of the last solve
  std::shared_ptr<const machine::Profile> profile_;
  std::optional<tuning::Solver> solver_;
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
      .def_rw("rtol", &Options::rtol)
      .def_rw("max_iterations", &Options::max_iterations)
      .def_rw("time_limit", &Options::time_limit)
      .def_rw("tuning_share", &Options::tuning_share)
      .def_rw("threads", &Options::threads)
      .def_rw("method", &Options::method, nb::arg().none())
      .def_rw("preconditioner", &Options::preconditioner, nb::arg().none())
      .def_rw("restart", &Options::restart, nb::arg().none())
      .def_rw("orthogonalization", &Options::orthogonalization, nb::arg().none())
      .def_rw("kernel", &Options::kernel, nb::arg().none())
      .def_rw("halo", &Options::halo, nb::arg().none())
      .def_rw("excluded", &Options::excluded)
      .def_rw("profile", &Options::profile)
      .def_rw("profile_name", &Options::profile_name)
      .def_rw("progress", &Options::progress, nb::arg().none())
      .def_rw("progress_line", &Options::progress_line);
  nb::class_<Solver>(module, "Solver")
      .def(nb::init<const InputIndices&, const InputIndices&, const InputVector&, std::int64_t,
                    std::uintptr_t>(),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"), nb::arg("comm") = 0)
      .def("update", &Solver::update, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
           nb::arg("columns"))
      .def_prop_ro("reuse", &Solver::reuse)
      .def("solve", &Solver::solve, nb::arg("b"), nb::arg("x").noconvert(), nb::arg("options"))
      .def("agree", &Solver::agree, nb::arg("complaint"))
      .def_prop_ro("rows", &Solver::rows)
      .def_prop_ro("local_rows", &Solver::local_rows)
      .def_prop_ro("ranks", &Solver::ranks);
  module.def(
      "agree",
      [](std::uintptr_t comm, const std::string& complaint) {
        const CoreCall call;
        comm::agree(communicator(comm), [&] {
          if (!complaint.empty()) throw InputError(complaint);
        });
      },
      nb::arg("comm"), nb::arg("complaint"));
  module.def("load", &load, nb::arg("source"));
}

}  // namespace ayatori::python
