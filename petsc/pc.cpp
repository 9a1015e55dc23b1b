#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/session/solve/linear_preconditioner.hpp"
#include "ayatori/session/solve/matrix_solver.hpp"
#include "petsc/guard.hpp"
#include "petsc/options.hpp"
#include "petsc/petsc.hpp"
#include "petsc/row_facts.hpp"
#include "petsc/rows.hpp"
#include "petsc/shared_comm.hpp"
#include "petsc/vectors.hpp"

// -pc_type ayatori: a linear preconditioner, or, with -ksp_type preonly, the whole solve.

namespace ayatori::petsc {

namespace {

constexpr const char* option_prefix = "-pc_ayatori_";

struct Preconditioner {
  session::SolveRequest request = first_request();
  SharedComm comm;
  bool finite = true;                                     ///< the entries of the matrix
  bool solves = false;                                    ///< the whole system, as no method of theirs does
  std::unique_ptr<session::MatrixSolver> whole;           ///< where it does
  std::unique_ptr<session::LinearPreconditioner> linear;  ///< where it does not
  std::optional<session::SolveRun> last;                  ///< last run of the whole solve
  std::string of_rows;  ///< what coordinates and near-null space were good for
};

Preconditioner& data_of(PC pc) {
  return *static_cast<Preconditioner*>(pc->data);
}

MPI_Comm comm_of(PC pc) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(pc));
}

/// Runs what may throw, as a call from PETSc.
template <class Body>
PetscErrorCode call(PC pc, Body&& body) {
  return guarded(comm_of(pc), option_prefix, body);
}

void drop_set_ups(Preconditioner& data) {
  data.linear.reset();
  data.whole.reset();
  data.last.reset();
}

/// Collective. Makes what the applications from now on need, of the matrix as it is.
PetscErrorCode build(PC pc) {
  auto& data = data_of(pc);
  bool is_other_comm = false;
  PetscCall(data.comm.take_that_of(pc->pmat, is_other_comm));
  if (is_other_comm) drop_set_ups(data);
  bool has = false;
  PetscCall(has_rows(pc->pmat, has));
  PetscCheck(has, comm_of(pc), PETSC_ERR_SUP,
             "Ayatori: the matrix of the preconditioner has no entries to be had: give one of type AIJ");
  sparse::RowBlock rows;
  PetscCall(make_rows(*data.comm, pc->pmat, rows, data.finite));
  if (!data.finite) {
    data.linear.reset();
    data.whole.reset();
    PetscCall(PCSetFailedReason(pc, PC_FACTOR_NUMERIC_ZEROPIVOT));
    PetscCall(PetscInfo(pc, "Ayatori: the matrix holds a NaN or an infinity\n"));
    return success;
  }
  pc->failedreason = PC_NOERROR;
  session::RowFacts known;
  if (!moves_rows(data.request)) PetscCall(find_row_facts(*data.comm, pc, pc->pmat, known, data.of_rows));
  if (!data.solves) {
    data.linear.reset();
    data.linear =
        std::make_unique<session::LinearPreconditioner>(*data.comm, rows, data.request, std::move(known));
  } else if (data.whole && data.whole->local_rows() == rows.rows() &&
             data.whole->rows() == rows.global_rows) {
    data.whole->update(std::move(rows));
  } else {
    data.whole = std::make_unique<session::MatrixSolver>(*data.comm, std::move(rows), data.request,
                                                         find_profile(*data.comm, data.request.profile),
                                                         std::move(known));
  }
  return success;
}

PetscErrorCode set_up(PC pc) {
  return call(pc, [&]() -> PetscErrorCode {
    auto& data = data_of(pc);
    // Before the first solve nobody has said of which kind it is to be.
    if (data.linear || data.whole || !data.finite) return build(pc);
    return success;
  });
}

/// Applications from now on solve, or do not.
void begin_anew(Preconditioner& data, bool solves) {
  data.solves = solves;
  drop_set_ups(data);
}

/// Whether the method is none of its own, so that one application has to do.
PetscErrorCode before_solve(PC pc, KSP ksp, Vec, Vec) {
  return call(pc, [&]() -> PetscErrorCode {
    auto& data = data_of(pc);
    PetscBool alone = PETSC_FALSE;
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp), KSPPREONLY, &alone));
    if ((alone == PETSC_TRUE) != data.solves) begin_anew(data, alone);
    return success;
  });
}

PetscErrorCode apply(PC pc, Vec r, Vec z) {
  return call(pc, [&]() -> PetscErrorCode {
    auto& data = data_of(pc);
    if (!data.linear && !data.whole && data.finite) PetscCall(build(pc));
    if (!data.finite) {
      PetscCall(VecSet(z, PETSC_INFINITY));
      return success;
    }
    if (data.linear) {
      ReadArray of_r;
      WriteArray of_z;
      PetscCall(of_r.open(r));
      PetscCall(of_z.open(z));
      data.linear->apply(of_r.span(), of_z.span());
      return success;
    }
    PetscReal norm = 0;
    PetscCall(VecNorm(r, NORM_INFINITY, &norm));
    PetscCall(VecSet(z, 0));
    if (norm == 0) return success;
    if (PetscIsInfOrNanReal(norm)) {
      PetscCall(VecSet(z, PETSC_INFINITY));
      return success;
    }
    {
      ReadArray of_r;
      WriteArray of_z;
      PetscCall(of_r.open(r));
      PetscCall(of_z.open(z));
      data.last = data.whole->solve(of_r.span(), of_z.span());
    }
    PetscCall(PCSetFailedReason(pc, data.last->report.converged() ? PC_NOERROR : PC_SUBPC_ERROR));
    return success;
  });
}

/// Applies the preconditioner to the columns of R. KSPMatSolve() with preonly comes here, and does not say
/// that it does: so systems are solved, which is right for whoever calls.
PetscErrorCode apply_to_columns(PC pc, Mat of_r, Mat of_z) {
  return call(pc, [&]() -> PetscErrorCode {
    auto& data = data_of(pc);
    if (!data.solves) begin_anew(data, true);
    PetscInt columns = 0;
    PetscCall(MatGetSize(of_r, nullptr, &columns));
    for (PetscInt j = 0; j < columns; ++j) {
      Vec r = nullptr;
      Vec z = nullptr;
      PetscCall(MatDenseGetColumnVecRead(of_r, j, &r));
      PetscCall(MatDenseGetColumnVecWrite(of_z, j, &z));
      PetscCall(apply(pc, r, z));
      PetscCall(MatDenseRestoreColumnVecWrite(of_z, j, &z));
      PetscCall(MatDenseRestoreColumnVecRead(of_r, j, &r));
    }
    return success;
  });
}

PetscErrorCode apply_transposed(PC pc, Vec r, Vec z) {
  auto& data = data_of(pc);
  if (!data.solves && !data.linear && data.finite)
    PetscCall(call(pc, [&]() -> PetscErrorCode { return build(pc); }));
  PetscCheck(data.linear && data.linear->is_symmetric(), comm_of(pc), PETSC_ERR_SUP,
             "Ayatori: -pc_type ayatori has no transposed application unless it is symmetric; "
             "-ksp_type ayatori solves transposed systems");
  return apply(pc, r, z);
}

PetscErrorCode from_options(PC pc, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Ayatori options");
  PetscCall(call(pc, [&]() -> PetscErrorCode {
    auto& data = data_of(pc);
    const auto before = data.request;
    PetscCall(set_from_options(PetscOptionsObject, option_prefix, {}, data.request));
    if (same_request(before, data.request)) return success;
    drop_set_ups(data);
    return success;
  }));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(success);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscBool is_text = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  if (!is_text) return success;
  return call(pc, [&]() -> PetscErrorCode {
    const auto& data = data_of(pc);
    if (data.linear)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: %s, one application; %s\n",
                                       data.linear->name().c_str(), data.linear->why().c_str()));
    else if (data.last)
      PetscCall(PetscViewerASCIIPrintf(
          viewer, "  Ayatori: the whole solve to %g: %s; %s, %lld iterations; %s\n", data.request.rtol,
          describe(data.last->report.choice).c_str(),
          std::string(tuning::name_of(data.last->report.status)).c_str(),
          static_cast<long long>(data.last->report.iterations), describe(data.last->reuse).c_str()));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: not applied yet\n"));
    if (!data.of_rows.empty())
      PetscCall(PetscViewerASCIIPrintf(viewer, "  Ayatori: %s\n", data.of_rows.c_str()));
    return success;
  });
}

PetscErrorCode reset(PC pc) {
  auto& data = data_of(pc);
  drop_set_ups(data);
  data.finite = true;
  return success;
}

/// PCSetCoordinates(): of `count` nodes of this rank, `dimension` numbers each.
// NOLINTNEXTLINE(readability-non-const-parameter): PETSc calls it with this type
PetscErrorCode set_coordinates(PC pc, PetscInt dimension, PetscInt count, PetscReal* values) {
  PetscCall(keep_coordinates(pc, dimension, count, values));
  return reset(pc);
}

PetscErrorCode destroy(PC pc) {
  delete static_cast<Preconditioner*>(pc->data);
  pc->data = nullptr;
  return PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", nullptr);
}

}  // namespace

PetscErrorCode create_pc(PC pc) {
  return guarded(comm_of(pc), option_prefix, [&]() -> PetscErrorCode {
    pc->data = std::make_unique<Preconditioner>().release();
    pc->ops->setup = set_up;
    pc->ops->apply = apply;
    pc->ops->applytranspose = apply_transposed;
    pc->ops->matapply = apply_to_columns;
    pc->ops->presolve = before_solve;
    pc->ops->setfromoptions = from_options;
    pc->ops->view = view;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    return PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C",
                                      set_coordinates);
  });
}

}  // namespace ayatori::petsc
