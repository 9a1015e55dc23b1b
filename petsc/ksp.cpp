#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/session/solve/linear_preconditioner.hpp"
#include "ayatori/session/solve/matrix_solver.hpp"
#include "ayatori/session/solve/operator_solver.hpp"
#include "petsc/goal.hpp"
#include "petsc/guard.hpp"
#include "petsc/options.hpp"
#include "petsc/petsc.hpp"
#include "petsc/row_facts.hpp"
#include "petsc/rows.hpp"
#include "petsc/shared_comm.hpp"
#include "petsc/shell_solve.hpp"
#include "petsc/their_pc.hpp"
#include "petsc/vectors.hpp"

// -ksp_type ayatori: the whole tuned solve, its preconditioner included.

namespace ayatori::petsc {

namespace {

constexpr const char* option_prefix = "-ksp_ayatori_";

/// A matrix of theirs as ours, with what solves have set up.
struct Held {
  MatrixStamp stamp;
  std::unique_ptr<session::MatrixSolver> solver;
};

struct Method {
  session::SolveRequest request = first_request();
  bool explains = false;
  SharedComm comm;
  Held as_it_is;
  Held transposed;
  MatrixStamp preconditioned;                             ///< what `linear` was made from
  std::unique_ptr<session::LinearPreconditioner> linear;  ///< where the matrix is known by its products
  PetscObjectId coordinates = 0;                          ///< the version that set-ups know
  std::optional<session::SolveRun> last;
  std::optional<session::OperatorRun> last_by_products;
  std::string said;     ///< for -ksp_view: how the last solve ended, or why none was made
  std::string note;     ///< what else there is to say of it
  std::string of_rows;  ///< what coordinates and near-null space were good for
};

Method& data_of(KSP ksp) {
  return *static_cast<Method*>(ksp->data);
}

MPI_Comm comm_of(KSP ksp) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
}

/// Runs what may throw, as a call from PETSc.
template <class Body>
PetscErrorCode call(KSP ksp, Body&& body) {
  return guarded(comm_of(ksp), option_prefix, body);
}

void drop_set_ups(Method& data) {
  data.as_it_is = {};
  data.transposed = {};
  data.linear.reset();
}

/// What the solver tells while it works, brought to monitors, history and tests of theirs. All ranks are told
/// the same. Monitors hear of an iteration when the next one is there, and of the last one when x is, and
/// what it leaves. An iteration is a product with A. Of products that are not told of, as every other one of
/// BiCGSTAB's, x is as it was before, and so is the norm.
class Watch {
 public:
  Watch(KSP ksp, const Goal& goal) : ksp_(ksp), goal_(goal) {}

  /// Reports the guess.
  PetscErrorCode begin() {
    norm_ = goal_.first;
    return show(0, goal_.first);
  }

  /// Reports the x that is handed back. There are as many iterations as were told, where that is more.
  PetscErrorCode end(std::int64_t iterations, double norm) {
    iterations = std::max(iterations, told_);
    if (told_ < iterations) PetscCall(show_until(iterations));
    if (shown_ < iterations) PetscCall(show(iterations, norm));
    ksp_->its = static_cast<PetscInt>(iterations);
    ksp_->rnorm = norm;
    return success;
  }

  /// False where the solve is to stop. Trials of other choices go on from where the counting stands.
  bool told(std::int64_t iteration, double norm) {
    if (stops()) return false;
    if (base_ + iteration <= told_) return true;
    error_ = tell(base_ + iteration, norm);
    return !stops();
  }

  /// The solve goes on in another call, which counts from 0.
  void begin_again() {
    base_ = told_;
    wants_end_ = false;
  }

  bool stops() const { return wants_end_ || error_ != success; }
  bool wants_end() const { return wants_end_; }
  PetscErrorCode error() const { return error_; }

 private:
  PetscErrorCode show(std::int64_t iteration, double norm) {
    shown_ = iteration;
    ksp_->its = static_cast<PetscInt>(iteration);
    ksp_->rnorm = norm;
    PetscCall(KSPLogResidualHistory(ksp_, norm));
    PetscCall(KSPMonitor(ksp_, static_cast<PetscInt>(iteration), norm));
    return success;
  }
  /// What comes before an iteration.
  PetscErrorCode show_until(std::int64_t iteration) {
    while (shown_ + 1 < iteration) PetscCall(show(shown_ + 1, norm_));
    return success;
  }
  PetscErrorCode tell(std::int64_t iteration, double norm) {
    PetscCall(show_until(iteration));
    told_ = iteration;
    norm_ = norm;
    if (!goal_.is_theirs) return success;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscCall((*ksp_->converged)(ksp_, static_cast<PetscInt>(iteration), norm, &reason, ksp_->cnvP));
    wants_end_ = reason != KSP_CONVERGED_ITERATING;
    return success;
  }

  KSP ksp_;
  const Goal& goal_;
  std::int64_t base_ = 0;
  std::int64_t shown_ = 0;
  std::int64_t told_ = 0;
  double norm_ = 0;  ///< then
  bool wants_end_ = false;
  PetscErrorCode error_ = success;
};

/// Collective. ||b - A x||, by PETSc's product.
PetscErrorCode residual_norm(KSP ksp, Mat a, PetscReal& norm) {
  Vec r = nullptr;
  PetscCall(VecDuplicate(ksp->vec_rhs, &r));
  PetscCall(KSP_MatMult(ksp, a, ksp->vec_sol, r));
  PetscCall(VecAYPX(r, -1, ksp->vec_rhs));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecDestroy(&r));
  return success;
}

/// Collective. A solver of these rows, which are split already or not, or the old one of them.
template <class Rows>
PetscErrorCode give_rows(KSP ksp, Mat a, Held& held, Rows rows) {
  auto& data = data_of(ksp);
  PetscInt local = 0;
  PetscInt global = 0;
  PetscCall(MatGetLocalSize(a, &local, nullptr));
  PetscCall(MatGetSize(a, &global, nullptr));
  const bool fits = held.solver && held.solver->rows() == global && held.solver->local_rows() == local;
  if (!data.comm->any(!fits)) {
    held.solver->update(std::move(rows));
    return success;
  }
  held = {};
  session::RowFacts known;
  if (!moves_rows(data.request)) PetscCall(find_row_facts(*data.comm, ksp->pc, a, known, data.of_rows));
  held.solver = std::make_unique<session::MatrixSolver>(*data.comm, std::move(rows), data.request,
                                                        find_profile(*data.comm, data.request.profile),
                                                        std::move(known));
  return success;
}

/// Collective. The solver of the matrix as it is now, transposed or not. `finite` is false, and no solver
/// there, where an entry is not. `fresh`: the entries have been read.
PetscErrorCode bring_up_to_date(KSP ksp, Mat a, Held& held, bool& finite, bool& fresh) {
  auto& data = data_of(ksp);
  MatrixStamp now;
  PetscCall(stamp_of(a, now));
  finite = true;
  fresh = !held.solver || held.stamp != now;
  if (!fresh) return success;
  if (ksp->transpose_solve || moves_rows(data.request)) {
    sparse::RowBlock rows;
    PetscCall(make_rows(*data.comm, a, rows, finite));
    if (finite && ksp->transpose_solve)
      rows = sparse::transpose(*data.comm, rows, sparse::partition_of(*data.comm, rows));
    if (finite) PetscCall(give_rows(ksp, a, held, std::move(rows)));
  } else {
    sparse::SplitMatrix parts{sparse::RowPartition::even(0, data.comm->size()), {}, {}, {}, {}};
    PetscCall(split_rows(*data.comm, a, parts, finite));
    if (finite) PetscCall(give_rows(ksp, a, held, std::move(parts)));
  }
  if (!finite) held = {};
  held.stamp = now;
  return success;
}

/// Collective. Takes the null vectors that come with the matrix out of x, as PETSc's methods do, where x
/// still meets the limit without them: vectors that are none of the matrix would spoil it. `rounding`: what a
/// norm may be wrong by that PETSc's product gives.
PetscErrorCode remove_null_vectors(KSP ksp, Mat a, const Goal& goal, bool converged, double rounding,
                                   double& norm) {
  MatNullSpace vectors = nullptr;
  if (ksp->transpose_solve)
    PetscCall(MatGetTransposeNullSpace(a, &vectors));
  else
    PetscCall(MatGetNullSpace(a, &vectors));
  if (vectors == nullptr) return success;
  Vec before = nullptr;
  PetscCall(VecDuplicate(ksp->vec_sol, &before));
  PetscCall(VecCopy(ksp->vec_sol, before));
  PetscCall(MatNullSpaceRemove(vectors, ksp->vec_sol));
  PetscReal after = 0;
  PetscCall(residual_norm(ksp, a, after));
  if (converged ? after + rounding <= goal.limit : after <= norm) {
    norm = after;
  } else {
    PetscCall(VecCopy(before, ksp->vec_sol));
    data_of(ksp).note = "x keeps its part in the null space that was set, as A does not send it to 0";
  }
  PetscCall(VecDestroy(&before));
  return success;
}

/// What ||b - A x|| may be wrong by where a plain product computes it.
double rounding_of_product(const tuning::SolveReport& report, double norm) {
  constexpr double safety = 4;
  const double terms = static_cast<double>(report.facts.max_row_nonzeros) + 2;
  const double size = report.backward_error > 0 ? norm / report.backward_error : 0;  // ||A|| ||x|| + ||b||
  return safety * terms * std::numeric_limits<double>::epsilon() * size;
}

/// Tells -log_view of this rank's share of products, as MatMult() does of its own. Nothing else is counted.
PetscErrorCode log_products(const session::MatrixSolver& solver, std::int64_t products) {
  const auto& parts = *solver.problem().parts;
  const auto entries = parts.interior.nonzeros() + parts.halo.nonzeros();
  return PetscLogFlops(2.0 * static_cast<double>(entries) * static_cast<double>(products));
}

/// Collective. Solves until a test of theirs is content, too, or nothing is left. `norm`: what x leaves.
PetscErrorCode run(KSP ksp, session::MatrixSolver& solver, const Goal& goal, Watch& watch,
                   std::int64_t& iterations, double& norm) {
  auto& data = data_of(ksp);
  constexpr int most_calls = 4;  // a test of theirs may take the verified residual for too large
  iterations = 0;
  for (int i = 0; i < most_calls; ++i) {
    solver.set_goal(goal.relative(), std::max<std::int64_t>(ksp->max_it - iterations, 1));
    {  // whoever looks at x afterwards has to find it changed
      ReadArray of_b;
      WriteArray of_x;
      PetscCall(of_b.open(ksp->vec_rhs));
      PetscCall(of_x.open(ksp->vec_sol));
      data.last =
          solver.solve(of_b.span(), of_x.span(),
                       {.progress = [&](const tuning::Choice&, std::int64_t iteration,
                                        double relative) { watch.told(iteration, relative * goal.b_norm); },
                        .event = {},
                        .wants_stop = [&] { return watch.stops(); },
                        .note =
                            [](const std::string& line) {
                              static_cast<void>(
                                  PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "Ayatori: %s\n", line.c_str()));
                            },
                        .uninterrupted = {}});
    }
    PetscCall(watch.error());
    iterations += data.last->report.iterations;
    PetscCall(log_products(solver, data.last->report.iterations));
    norm = data.last->report.relative_residual * goal.b_norm;
    const double bound = data.last->report.residual_error_bound * goal.b_norm;
    PetscCall(find_reason(ksp, goal, data.last->report.converged(), iterations, norm, bound, ksp->reason));
    if (!watch.wants_end() || ksp->reason > 0 || iterations >= ksp->max_it) return success;
    watch.begin_again();
  }
  return success;
}

/// Collective. Whether x leaves more than the solver of the entries that were read once has verified: then
/// the matrix was changed in a way that does not show, as through the arrays of its parts.
PetscErrorCode find_change(KSP ksp, Mat a, const Goal& goal, double norm, bool& changed) {
  constexpr double more = 2;
  const auto& report = data_of(ksp).last->report;
  PetscReal theirs = 0;
  PetscCall(residual_norm(ksp, a, theirs));
  changed = !(theirs <=
              more * (norm + report.residual_error_bound * goal.b_norm) + rounding_of_product(report, norm));
  return success;
}

/// Collective. Solves with the entries of the matrix.
PetscErrorCode solve_with_rows(KSP ksp, Mat a, const Goal& goal, Watch& watch) {
  auto& data = data_of(ksp);
  Held& held = ksp->transpose_solve ? data.transposed : data.as_it_is;
  bool finite = true;
  bool fresh = true;
  PetscCall(bring_up_to_date(ksp, a, held, finite, fresh));
  if (!finite) {
    ksp->reason = KSP_DIVERGED_NANORINF;
    data.said = "the matrix holds a NaN or an infinity";
    return success;
  }
  double norm = goal.first;
  std::int64_t iterations = 0;
  PetscCall(run(ksp, *held.solver, goal, watch, iterations, norm));
  if (!fresh) {
    bool changed = false;
    PetscCall(find_change(ksp, a, goal, norm, changed));
    if (changed) {
      held = {};
      watch.begin_again();
      return solve_with_rows(ksp, a, goal, watch);
    }
  }
  const auto& report = data.last->report;
  PetscCall(remove_null_vectors(ksp, a, goal, report.converged(), rounding_of_product(report, norm), norm));
  data.said = fmt::format(
      "{} after {} iterations in {:.4g} s: ||b - A x|| = {:.3e} +- {:.0e}, verified; wanted {:.3e}",
      tuning::name_of(report.status), iterations, report.seconds.total, norm,
      report.residual_error_bound * goal.b_norm, goal.limit);
  PetscCall(watch.end(iterations, norm));
  if (!data.explains) return success;
  return PetscPrintf(comm_of(ksp), "%s%s", summary(*data.last).c_str(), explanation(*data.last).c_str());
}

/// Collective. Makes the preconditioner of a matrix that is known by its products: of Pmat, or none where
/// Pmat has no entries either. `finite`: whether its entries are.
PetscErrorCode bring_linear_up_to_date(KSP ksp, Mat p, bool& finite) {
  auto& data = data_of(ksp);
  finite = true;
  bool has = false;
  PetscCall(has_rows(p, has));
  if (!has) {
    data.linear.reset();
    const auto& wanted = data.request.preconditioner;
    PetscCheck(wanted == "auto" || wanted == "none", comm_of(ksp), PETSC_ERR_SUP,
               "Ayatori: -ksp_ayatori_preconditioner %s is made of a matrix with entries, which neither Amat "
               "nor Pmat has: give one of type AIJ as Pmat in KSPSetOperators(), or take none",
               wanted.c_str());
    return success;
  }
  MatrixStamp now;
  PetscCall(stamp_of(p, now));
  if (data.linear && data.preconditioned == now) return success;
  sparse::RowBlock rows;
  PetscCall(make_rows(*data.comm, p, rows, finite));
  data.linear.reset();
  if (!finite) return success;
  session::RowFacts known;
  PetscCall(find_row_facts(*data.comm, ksp->pc, p, known, data.of_rows));
  data.linear =
      std::make_unique<session::LinearPreconditioner>(*data.comm, rows, data.request, std::move(known));
  data.preconditioned = now;
  return success;
}

/// Collective. Solves with the products of the matrix and a preconditioner of the other one.
PetscErrorCode solve_with_products(KSP ksp, Mat a, Mat p, const Goal& goal, Watch& watch) {
  auto& data = data_of(ksp);
  PetscCheck(!ksp->transpose_solve, comm_of(ksp), PETSC_ERR_SUP,
             "Ayatori: no transposed solve where the matrix is known by its products alone");
  bool finite = true;
  PetscCall(bring_linear_up_to_date(ksp, p, finite));
  data.last.reset();
  data.last_by_products.reset();
  if (!finite) {
    ksp->reason = KSP_DIVERGED_NANORINF;
    data.said = "Pmat holds a NaN or an infinity";
    return success;
  }
  session::SolveRequest request = products_request(data.request);
  request.rtol = goal.relative();
  request.max_iterations = ksp->max_it;
  auto& run = data.last_by_products.emplace();
  PetscCall(solve_shell(*data.comm, a, data.linear.get(), request, ksp->vec_rhs, ksp->vec_sol,
                        {.progress = [&](const tuning::Choice&, std::int64_t iteration,
                                         double relative) { watch.told(iteration, relative * goal.b_norm); },
                         .event = {},
                         .wants_stop = [&] { return watch.stops(); },
                         .note = {},
                         .uninterrupted = {}},
                        run));
  PetscCall(watch.error());
  double norm = run.relative_residual * goal.b_norm;
  PetscCall(find_reason(ksp, goal, run.converged(), run.iterations, norm, 0, ksp->reason));
  PetscCall(remove_null_vectors(ksp, a, goal, run.converged(), 0, norm));
  PetscCall(watch.end(run.iterations, norm));
  data.said =
      fmt::format("{}{}{} after {} iterations: ||b - A x|| = {:.3e}, by the product as it is; wanted {:.3e}",
                  tuning::name_of(run.status), run.reason.empty() ? "" : ": ", run.reason, run.iterations,
                  norm, goal.limit);
  return success;
}

/// Collective. What needs no solver: b that is 0 or not finite, and no iteration allowed. True if that was
/// it.
PetscErrorCode solve_at_once(KSP ksp, const Goal& goal, Watch& watch, bool& done) {
  done = true;
  if (goal.b_norm == 0) {
    PetscCall(VecSet(ksp->vec_sol, 0));
    data_of(ksp).said = "b is 0, and so is x";
    ksp->reason = ksp->abstol > 0 ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    return watch.begin();
  }
  PetscCall(watch.begin());
  const bool meets = goal.first <= 0.5 * goal.limit;  // whatever a plain product rounds
  if (goal.is_theirs) {
    PetscCall((*ksp->converged)(ksp, 0, goal.first, &ksp->reason, ksp->cnvP));
    done = ksp->reason != KSP_CONVERGED_ITERATING;
  } else if (ksp->max_it == 0) {
    PetscCall(find_reason(ksp, goal, meets, 0, goal.first, 0, ksp->reason));
  } else {
    done = false;
  }
  if (done) data_of(ksp).said = fmt::format("the guess leaves ||b - A x|| = {:.3e}", goal.first);
  return success;
}

PetscErrorCode solve(KSP ksp) {
  return call(ksp, [&]() -> PetscErrorCode {
    auto& data = data_of(ksp);
    data.note.clear();
    Mat a = nullptr;
    Mat p = nullptr;
    PetscCall(PCGetOperators(ksp->pc, &a, &p));
    bool is_other_comm = false;
    PetscCall(data.comm.take_that_of(a, is_other_comm));
    if (is_other_comm) drop_set_ups(data);
    PetscObjectId coordinates = 0;
    PetscCall(version_of_coordinates(ksp->pc, coordinates));
    if (data.coordinates != coordinates) drop_set_ups(data);
    data.coordinates = coordinates;
    PetscReal b_norm = 0;
    PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &b_norm));
    ksp->its = 0;
    if (PetscIsInfOrNanReal(b_norm)) {
      ksp->rnorm = b_norm;
      ksp->reason = KSP_DIVERGED_NANORINF;
      data.said = "the right-hand side holds a NaN or an infinity, or its norm is one";
      return success;
    }
    Goal goal;
    PetscCall(find_goal(ksp, b_norm, goal));
    if (ksp->max_it == 0) goal.needs_first = true;
    PetscReal first = b_norm;
    if (goal.needs_first && b_norm > 0 && !ksp->guess_zero) PetscCall(residual_norm(ksp, a, first));
    PetscCall(begin_test(ksp, first, goal));
    Watch watch(ksp, goal);
    bool done = false;
    PetscCall(solve_at_once(ksp, goal, watch, done));
    if (done) return success;
    bool has = false;
    PetscCall(has_rows(a, has));
    return has ? solve_with_rows(ksp, a, goal, watch) : solve_with_products(ksp, a, p, goal, watch);
  });
}

/// The preconditioner is chosen inside: the PC is not applied.
PetscErrorCode set_up(KSP ksp) {
  PC pc = nullptr;
  PetscCall(KSPGetPC(ksp, &pc));
  return set_aside(pc);
}

PetscErrorCode from_options(KSP ksp, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Ayatori options");
  PetscCall(call(ksp, [&]() -> PetscErrorCode {
    auto& data = data_of(ksp);
    const auto before = data.request;
    PetscCall(set_from_options(PetscOptionsObject, option_prefix, {"rtol", "max-iterations"}, data.request));
    PetscBool explains = data.explains ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscOptionsBool("-ksp_ayatori_explain", "Print what was considered, tried and decided", "",
                               explains, &explains, nullptr));
    data.explains = explains;
    if (!same_request(before, data.request)) drop_set_ups(data);
    return success;
  }));
  PetscOptionsHeadEnd();
  PetscCall(listen_for_coordinates(ksp->pc));
  PetscFunctionReturn(success);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  PetscBool is_text = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  if (!is_text) return success;
  return call(ksp, [&]() -> PetscErrorCode {
    const auto& data = data_of(ksp);
    if (data.last) {
      PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: %s, because %s\n",
                                       describe(data.last->report.choice).c_str(),
                                       data.last->report.why.c_str()));
    } else if (data.last_by_products) {
      const std::string of_pmat = data.linear
                                      ? fmt::format("{} of Pmat; {}", data.linear->name(), data.linear->why())
                                      : "no preconditioner, as neither Amat nor Pmat has entries";
      PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: %s + %s\n", data.last_by_products->method.c_str(),
                                       of_pmat.c_str()));
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: %s\n",
                                     data.said.empty() ? "nothing solved yet" : data.said.c_str()));
    if (data.last)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: %s\n", describe(data.last->reuse).c_str()));
    for (const auto* note : {&data.note, &data.of_rows})
      if (!note->empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: %s\n", note->c_str()));
    return success;
  });
}

/// Until a solve ends, its guess.
PetscErrorCode build_solution(KSP ksp, Vec into, Vec* solution) {
  if (into != nullptr) PetscCall(VecCopy(ksp->vec_sol, into));
  if (solution != nullptr) *solution = into != nullptr ? into : ksp->vec_sol;
  return success;
}

PetscErrorCode reset(KSP ksp) {
  auto& data = data_of(ksp);
  drop_set_ups(data);
  data.last.reset();
  data.said.clear();
  return success;
}

PetscErrorCode destroy(KSP ksp) {
  delete static_cast<Method*>(ksp->data);
  ksp->data = nullptr;
  return ksp->pc != nullptr ? take_back(ksp->pc) : success;
}

}  // namespace

PetscErrorCode create_ksp(KSP ksp) {
  return guarded(comm_of(ksp), option_prefix, [&]() -> PetscErrorCode {
    ksp->data = std::make_unique<Method>().release();
    // The residual's norm alone has a meaning: the preconditioner may change while a solve goes on.
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
    // As multigrid asks of its smoothers: the number of iterations ends the solve.
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
    ksp->ops->setup = set_up;
    ksp->ops->solve = solve;
    ksp->ops->setfromoptions = from_options;
    ksp->ops->view = view;
    ksp->ops->reset = reset;
    ksp->ops->destroy = destroy;
    ksp->ops->buildsolution = build_solution;
    ksp->ops->buildresidual = KSPBuildResidualDefault;
    PC pc = nullptr;
    PetscCall(KSPGetPC(ksp, &pc));
    return listen_for_coordinates(pc);
  });
}

}  // namespace ayatori::petsc
