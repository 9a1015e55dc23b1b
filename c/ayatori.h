/* Ayatori in C: the verified solution of a sparse linear system, tuned to the matrix and the machine.
 *
 * Every function that returns int gives one of ayatori_code, and ayatori_error_text() then says more.
 * Functions marked "collective" are called by all ranks of the solver's communicator, in the same order, and
 * give all of them the same code. One thread at a time calls into the library: the one that may call MPI.
 * Texts count rows and columns from 1, in the whole matrix unless they name a rank. What they cite of arrays
 * is as it stands there. docs/c.md is the guide.
 */
#ifndef AYATORI_H
#define AYATORI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns: who has to act. The values are the exit statuses of the command line. */
enum ayatori_code {
  AYATORI_OK = 0,
  AYATORI_BAD_INPUT = 2,   /* the caller: an argument, an option, the matrix or b is wrong */
  AYATORI_ENVIRONMENT = 3, /* the machine: memory, disk, MPI */
  AYATORI_INTERNAL = 4     /* a defect of Ayatori */
};

/* How a solve ended. */
enum ayatori_status {
  AYATORI_CONVERGED = 0,     /* proved: the exact residual of this x meets the tolerance */
  AYATORI_LEAST_SQUARES = 1, /* no x does, as the matrix is singular; this one leaves as little as any */
  AYATORI_NOT_CONVERGED = 2, /* x is the best found */
  AYATORI_LIMITED_BY_ROUNDING = 3, /* x leaves hardly more than the exact solution rounded to double does */
  AYATORI_INTERRUPTED = 4,         /* a callback asked for it */
  AYATORI_TIME_LIMIT = 5
};

/* The result of one solve. Begin with AYATORI_RESULT_INIT: later versions may know a longer struct, and fill
 * only as much of it as `size` says. A call that fails leaves AYATORI_NOT_CONVERGED, whatever stood there. */
typedef struct ayatori_result {
  size_t size;                 /* bytes of this struct, as the caller knows it */
  int status;                  /* an ayatori_status */
  int converged;               /* 1 if status is AYATORI_CONVERGED, else 0 */
  int64_t iterations;          /* products with the matrix, over all trials */
  double relative_residual;    /* ||b - A x|| / ||b|| of the x handed back; NaN where nothing was begun */
  double residual_error_bound; /* the exact one is no farther from it */
  double seconds;              /* the whole solve; of these, building products and preconditioners: */
  double setup_seconds;
} ayatori_result;
#define AYATORI_RESULT_INIT \
  { sizeof(ayatori_result), AYATORI_NOT_CONVERGED, 0, 0, 0, 0, 0, 0 }

/* A matrix, or an operator, spread over the ranks of a communicator, with its options and all that solves
 * with it have set up. Any number of them may live at once. */
typedef struct ayatori_solver ayatori_solver;

/* Collective. `comm` is the address of an MPI_Comm, which is duplicated; NULL stands for this process alone.
 * MPI is started where nobody has, and then ended with the process: call MPI_Init before if you do so
 * yourself. *solver is NULL where this fails. */
int ayatori_create(const void* comm, ayatori_solver** solver);

/* Collective. The same with a communicator as Fortran has it: an INTEGER, or comm%MPI_VAL of mpi_f08. */
int ayatori_create_f(int fortran_comm, ayatori_solver** solver);

/* Collective. NULL is left alone. Not to be called by callbacks. When MPI ends, a solver lets go of all it
 * holds by itself, and destroying it later is all that may still be done with it. */
void ayatori_destroy(ayatori_solver* solver);

/* ---- Options: those of `ayatori solve`, by the same names. The same on all ranks, which is checked. ---- */

/* Sets an option from text: "rtol" to "1e-10", "deterministic" to "true", "exclude" to "bicgstab,amg". `_`
 * stands for `-` in names. Holds from the next solve on; set-ups are then made anew, but serve on where only
 * `rtol` and `max-iterations` change. `profile` and
 * `knowledge` are "none" unless set: a library measures nothing and writes no file unasked. Not collective.
 */
int ayatori_set_option(ayatori_solver* solver, const char* name, const char* value);

/* The value as ayatori_set_option() takes it, until the next call with this solver; "" for one that is not
 * set; NULL if there is no such option. */
const char* ayatori_get_option(ayatori_solver* solver, const char* name);

typedef struct ayatori_option {
  const char* name;    /* "max-iterations" */
  const char* type;    /* "number", "integer", "boolean", "text" or "list" (words separated by commas) */
  const char* initial; /* its value unless set, as text */
  const char* help;    /* what it does, with its range */
  const char* words;   /* values that have names, separated by commas; "" where there are none */
} ayatori_option;

/* The options, from 0; NULL beyond the last. The text lives as long as the process. */
const ayatori_option* ayatori_option_at(int index);

/* ---- The matrix: this rank's rows as compressed sparse rows. The arrays are read during the call only. ----
 */

/* Rank 0 holds the first rows, and so on. `row_start` has local_rows + 1 elements; columns are numbers in the
 * whole matrix, which need not ascend, and entries of the same place are added; global_columns is the number
 * of all rows. Collective. Called again with as many rows as before, and no option changed, it replaces the
 * values: set-ups stay as long as they serve. A call that fails leaves the matrix that was there. A NaN or an
 * infinity is refused by the solve, not here. */
int ayatori_set_matrix_i32(ayatori_solver* solver, int64_t local_rows, int64_t global_columns,
                           const int32_t* row_start, const int32_t* column, const double* value);
int ayatori_set_matrix_i64(ayatori_solver* solver, int64_t local_rows, int64_t global_columns,
                           const int64_t* row_start, const int64_t* column, const double* value);

/* Rows of this rank: as many elements have b and x. 0 before a matrix or an operator is set. Not collective.
 */
int64_t ayatori_local_rows(ayatori_solver* solver);

/* The number of the first column, and what row_start begins with: 0 unless set, 1 as in Fortran. Not
 * collective. */
int ayatori_set_index_base(ayatori_solver* solver, int base);

/* x, y, z of the node of each local row, coordinates[3 * row + axis], for elastic bodies: multigrid then
 * knows their rotations. For matrices that are set afterwards, on all ranks; NULL takes them away. Not
 * collective. */
int ayatori_set_coordinates(ayatori_solver* solver, int64_t local_rows, const double* coordinates);

/* ---- Operators ---- */

/* Local part of y = A x. Called by all ranks at once, so that it may communicate, on its own communicator.
 * Anything but 0 ends the solve with AYATORI_BAD_INPUT on all ranks. */
typedef int (*ayatori_apply)(const double* x, double* y, void* data);

/* Solves go by this operator, not by the matrix, which then serves its preconditioner only, where one is set:
 * of the same rows. Nothing is tuned: method "auto" is gmres, preconditioner "auto" is ilu of the matrix, or
 * ic with methods that want a symmetric one, or none without a matrix. `apply` NULL goes back to the matrix.
 * Collective. */
int ayatori_set_operator(ayatori_solver* solver, int64_t local_rows, ayatori_apply apply, void* data);

/* ---- Solving ---- */

/* Solves A x = b and proves it. b and x are this rank's rows; x holds a starting guess, zeros will do, and
 * becomes the best x found, whatever the status. That is AYATORI_OK: `result` says how it ended. It may be
 * NULL. Collective. */
int ayatori_solve(ayatori_solver* solver, const double* b, double* x, ayatori_result* result);

/* Several right-hand sides, several at a time where that is faster. `results` has `count` elements or is
 * NULL; the first one's size holds for all. After a stop those that were not begun have status
 * AYATORI_INTERRUPTED and a residual that is NaN. Collective. */
int ayatori_solve_many(ayatori_solver* solver, int count, const double* const* b, double* const* x,
                       ayatori_result* results);

/* Told after every iteration, on the ranks that set it. It must not call back with the same solver. */
typedef void (*ayatori_progress)(const char* choice, int64_t iteration, double relative_residual, void* data);
int ayatori_set_progress(ayatori_solver* solver, ayatori_progress progress, void* data);

/* Asked in every reduction, on the ranks that set it: anything but 0, on one rank, stops all. */
typedef int (*ayatori_stop)(void* data);
int ayatori_set_stop(ayatori_solver* solver, ayatori_stop stop, void* data);

/* ---- What the last solve has to say. Text lives until the next call with this solver; "" before the first.
 * ---- */

/* The report that `ayatori solve --json` writes (docs/solve.schema.json). After ayatori_solve_many() a JSON
 * array of what a solve knows itself; with an operator its own, shorter one. */
const char* ayatori_report_json(ayatori_solver* solver);
/* Facts, choice, result and times, in lines. */
const char* ayatori_summary(ayatori_solver* solver);
/* What was considered, tried and decided, in sentences. */
const char* ayatori_explanation(ayatori_solver* solver);
/* How set-ups have served solves so far, in one line. */
const char* ayatori_reuse(ayatori_solver* solver);

/* Why the last call with this solver failed, in one line; "" if it did not. NULL: the last call of this
 * thread that had no solver, such as ayatori_create(). */
const char* ayatori_error_text(const ayatori_solver* solver);

/* For a binding that finds arrays of its caller's too short: the next call on this rank that sets a matrix or
 * solves fails with this text, on all ranks with AYATORI_BAD_INPUT, and looks at no array. Not collective. */
int ayatori_refuse_next(ayatori_solver* solver, const char* why);

/* "converged", "not converged", ... */
const char* ayatori_status_text(int status);

/* "major.minor.patch". The numbers in the library's name change when programs have to be compiled anew. */
const char* ayatori_version(void);

/* Version, commit, compiler, flags, system, MPI and libraries of this build, as a JSON object. */
const char* ayatori_build_info(void);

#ifdef __cplusplus
}
#endif

#endif
