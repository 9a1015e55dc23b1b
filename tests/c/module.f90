! Every procedure of the module for Fortran.
module callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 30

contains

  ! Each rank its own: the operator 3 I.
  integer(c_int) function apply(x, y, data) bind(c)
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(out) :: y(*)
    type(c_ptr), value :: data
    real(c_double), pointer :: factor
    call c_f_pointer(data, factor)
    y(1:n) = factor*x(1:n)
    apply = 0
  end function

  subroutine progress(choice, iteration, relative_residual, data) bind(c)
    type(c_ptr), value :: choice
    integer(c_int64_t), value :: iteration
    real(c_double), value :: relative_residual
    type(c_ptr), value :: data
    integer(c_int), pointer :: calls
    call c_f_pointer(data, calls)
    if (c_associated(choice) .and. iteration > 0 .and. relative_residual >= 0) calls = calls + 1
  end subroutine

  integer(c_int) function stop_at_once(data) bind(c)
    type(c_ptr), value :: data
    stop_at_once = merge(0, 1, c_associated(data))
  end function
end module

program test
  use ayatori
  use callbacks
  use mpi
  implicit none
  integer :: ierr, rank, ranks, first, short, i
  integer(c_int), target :: calls = 0
  real(c_double), target :: factor = 3
  integer(c_int32_t) :: start(n + 1), column(n)
  integer(c_int64_t) :: all
  real(c_double) :: value(n), b(n), x(n), coordinates(3, n), many_b(n, 3), many_x(n, 3)
  type(ayatori_solver) :: solver, alone
  type(ayatori_result) :: result, results(3)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  first = rank*n
  all = ranks*n
  start = [(i, i=1, n + 1)]
  column = [(first + i, i=1, n)]
  value = [(real(first + i, c_double), i=1, n)]
  b = 2*value
  x = 0
  coordinates = 0

  call expect(ayatori_version() == "0.2.0", __LINE__)
  call expect(index(ayatori_build_info(), '"version":"0.2.0"') > 0, __LINE__)
  call ayatori_create(solver, MPI_COMM_WORLD, ierr)
  call expect(ierr == AYATORI_OK, __LINE__)
  call ayatori_set_option(solver, "rtol", "1e-12", ierr)
  call expect(ierr == AYATORI_OK .and. ayatori_get_option(solver, "rtol") == "1e-12", __LINE__)
  call ayatori_set_option(solver, "magic", "1", ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "magic") > 0, __LINE__)
  call ayatori_set_matrix(solver, start, column, value, all, ierr)
  call expect(ierr == AYATORI_OK, __LINE__)
  call ayatori_solve(solver, b, x, result, ierr)
  call expect(ierr == AYATORI_OK .and. result%converged == 1 .and. maxval(abs(x - 2)) < 1e-9, __LINE__)
  call expect(ayatori_status_text(result%status) == "converged", __LINE__)
  call expect(index(ayatori_report_json(solver), "ayatori.solve/1") > 0, __LINE__)
  call expect(len(ayatori_summary(solver)) > 20 .and. len(ayatori_explanation(solver)) > 20, __LINE__)
  call expect(len(ayatori_reuse(solver)) > 5, __LINE__)

  call ayatori_set_matrix(solver, int(start, c_int64_t), int(column, c_int64_t), value, all, ierr)
  call expect(ierr == AYATORI_OK, __LINE__)
  many_b = spread(b, 2, 3)
  many_b(:, 3) = 0
  many_x = 0
  call ayatori_solve(solver, many_b, many_x, results, ierr)
  call expect(ierr == AYATORI_OK .and. all_converged(results) .and. maxval(abs(many_x(:, 2) - 2)) < 1e-9, __LINE__)
  call ayatori_solve(solver, many_b, many_x, results(:2), ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "as many right-hand sides") > 0, __LINE__)

  ! Arrays that are too short, on the last rank only: the error of all, and the old matrix stays.
  short = merge(n - 1, n, rank == ranks - 1)
  call ayatori_solve(solver, b(:short), x, result, ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "b has 29 elements for 30 rows") > 0, __LINE__)
  call ayatori_solve(solver, b, x(:short), result, ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "x has 29") > 0, __LINE__)
  call ayatori_solve(solver, many_b(:short, :), many_x, results, ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "b has 29") > 0, __LINE__)
  call ayatori_set_matrix(solver, start, column(:short), value, all, ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "column has 29 elements") > 0, __LINE__)
  call ayatori_set_matrix(solver, int(start, c_int64_t), int(column, c_int64_t), value(:short), all, ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "value has 29 elements") > 0, __LINE__)
  call ayatori_set_matrix(solver, start(:0), column, value, all, ierr)
  call expect(ierr == AYATORI_BAD_INPUT .and. index(ayatori_error_text(solver), "row_start has no element") > 0, __LINE__)
  x = 0
  call ayatori_solve(solver, b, x, result, ierr)
  call expect(ierr == AYATORI_OK .and. result%converged == 1 .and. maxval(abs(x - 2)) < 1e-9, __LINE__)

  call ayatori_set_coordinates(solver, coordinates(:, :n - 2), ierr)
  call expect(ierr == AYATORI_OK, __LINE__)
  call ayatori_set_matrix(solver, start, column, value, all, ierr)
  call expect(ierr == AYATORI_BAD_INPUT, __LINE__)
  call ayatori_set_coordinates(solver, coordinates(:2, :), ierr)
  call expect(ierr == AYATORI_BAD_INPUT, __LINE__)

  call ayatori_create(alone, ierr=ierr)
  call expect(ierr == AYATORI_OK, __LINE__)
  call ayatori_set_operator(alone, n, apply, c_loc(factor), ierr)
  call expect(ierr == AYATORI_OK, __LINE__)
  call ayatori_set_progress(alone, progress, c_loc(calls), ierr)
  x = 0
  call ayatori_solve(alone, b, x, result, ierr)
  call expect(ierr == AYATORI_OK .and. calls > 0 .and. maxval(abs(3*x - b)) < 1e-5, __LINE__)
  call ayatori_set_stop(alone, stop_at_once, ierr=ierr)
  x = 0
  call ayatori_solve(alone, b, x, result, ierr)
  call expect(ierr == AYATORI_OK .and. result%status == AYATORI_INTERRUPTED, __LINE__)
  call ayatori_set_stop(alone, ierr=ierr)
  call ayatori_set_progress(alone, ierr=ierr)
  i = calls
  call ayatori_solve(alone, b, x, result, ierr)
  call expect(ierr == AYATORI_OK .and. result%converged == 1 .and. calls == i, __LINE__)
  call ayatori_set_operator(alone, n, ierr=ierr)
  call ayatori_solve(alone, b, x, result, ierr)
  call expect(ierr == AYATORI_BAD_INPUT, __LINE__)
  call ayatori_destroy(alone)
  call ayatori_destroy(solver)
  call MPI_Finalize(ierr)

contains

  logical function all_converged(results)
    type(ayatori_result), intent(in) :: results(:)
    all_converged = all_are(results%converged == 1)
  end function

  logical function all_are(conditions)
    logical, intent(in) :: conditions(:)
    all_are = count(conditions) == size(conditions)
  end function

  subroutine expect(condition, line)
    logical, intent(in) :: condition
    integer, intent(in) :: line
    if (condition) return
    print *, "line ", line, ": ", ayatori_error_text(solver)
    error stop 1
  end subroutine
end program
