! Ayatori in Fortran 2008: ayatori.h with strings and arrays as Fortran has them. Compile this file with your program and
! link libayatori. Rows and columns count from 1. `ierr` is 0, or one of the codes below, and ayatori_error_text() says
! more. Arrays that are too short are refused, on all ranks where the procedure is collective. What is collective, and what each procedure does, ayatori.h says; docs/c.md has an example.
module ayatori
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer, parameter, public :: AYATORI_OK = 0, AYATORI_BAD_INPUT = 2, AYATORI_ENVIRONMENT = 3, AYATORI_INTERNAL = 4
  integer, parameter, public :: AYATORI_CONVERGED = 0, AYATORI_LEAST_SQUARES = 1, AYATORI_NOT_CONVERGED = 2, &
    AYATORI_LIMITED_BY_ROUNDING = 3, AYATORI_INTERRUPTED = 4, AYATORI_TIME_LIMIT = 5

  type, bind(c), public :: ayatori_result
    integer(c_size_t) :: size = 56
    integer(c_int) :: status = 2  ! AYATORI_NOT_CONVERGED
    integer(c_int) :: converged = 0
    integer(c_int64_t) :: iterations = 0
    real(c_double) :: relative_residual = 0
    real(c_double) :: residual_error_bound = 0
    real(c_double) :: seconds = 0
    real(c_double) :: setup_seconds = 0
  end type

  type, public :: ayatori_solver
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  public :: ayatori_create, ayatori_destroy, ayatori_set_option, ayatori_get_option, ayatori_set_matrix
  public :: ayatori_set_coordinates, ayatori_set_operator, ayatori_set_progress, ayatori_set_stop, ayatori_solve
  public :: ayatori_report_json, ayatori_summary, ayatori_explanation, ayatori_reuse, ayatori_error_text
  public :: ayatori_status_text, ayatori_version, ayatori_build_info, ayatori_apply, ayatori_progress, ayatori_stop

  abstract interface
    ! y = A x. Anything but 0 ends the solve. `n` is not passed: data leads to it, or x and y are of a known length.
    integer(c_int) function ayatori_apply(x, y, data) bind(c)
      import
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(out) :: y(*)
      type(c_ptr), value :: data
    end function
    ! `choice` is text of C.
    subroutine ayatori_progress(choice, iteration, relative_residual, data) bind(c)
      import
      type(c_ptr), value :: choice
      integer(c_int64_t), value :: iteration
      real(c_double), value :: relative_residual
      type(c_ptr), value :: data
    end subroutine
    integer(c_int) function ayatori_stop(data) bind(c)
      import
      type(c_ptr), value :: data
    end function
  end interface

  interface ayatori_set_matrix
    module procedure set_matrix_i32, set_matrix_i64
  end interface

  interface ayatori_solve
    module procedure solve_one, solve_many
  end interface

  interface
    integer(c_int) function c_create(comm, solver) bind(c, name="ayatori_create")
      import
      type(c_ptr), value :: comm
      type(c_ptr), intent(out) :: solver
    end function
    integer(c_int) function c_create_f(comm, solver) bind(c, name="ayatori_create_f")
      import
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: solver
    end function
    subroutine c_destroy(solver) bind(c, name="ayatori_destroy")
      import
      type(c_ptr), value :: solver
    end subroutine
    integer(c_int) function c_set_option(solver, name, value) bind(c, name="ayatori_set_option")
      import
      type(c_ptr), value :: solver
      character(c_char), intent(in) :: name(*), value(*)
    end function
    type(c_ptr) function c_get_option(solver, name) bind(c, name="ayatori_get_option")
      import
      type(c_ptr), value :: solver
      character(c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_set_index_base(solver, base) bind(c, name="ayatori_set_index_base")
      import
      type(c_ptr), value :: solver
      integer(c_int), value :: base
    end function
    integer(c_int64_t) function c_local_rows(solver) bind(c, name="ayatori_local_rows")
      import
      type(c_ptr), value :: solver
    end function
    integer(c_int) function c_refuse_next(solver, why) bind(c, name="ayatori_refuse_next")
      import
      type(c_ptr), value :: solver
      character(c_char), intent(in) :: why(*)
    end function
    integer(c_int) function c_set_matrix_i32(solver, rows, columns, row_start, column, value) &
        bind(c, name="ayatori_set_matrix_i32")
      import
      type(c_ptr), value :: solver
      integer(c_int64_t), value :: rows, columns
      integer(c_int32_t), intent(in) :: row_start(*), column(*)
      real(c_double), intent(in) :: value(*)
    end function
    integer(c_int) function c_set_matrix_i64(solver, rows, columns, row_start, column, value) &
        bind(c, name="ayatori_set_matrix_i64")
      import
      type(c_ptr), value :: solver
      integer(c_int64_t), value :: rows, columns
      integer(c_int64_t), intent(in) :: row_start(*), column(*)
      real(c_double), intent(in) :: value(*)
    end function
    integer(c_int) function c_set_coordinates(solver, rows, coordinates) bind(c, name="ayatori_set_coordinates")
      import
      type(c_ptr), value :: solver
      integer(c_int64_t), value :: rows
      real(c_double), intent(in) :: coordinates(*)
    end function
    integer(c_int) function c_set_operator(solver, rows, apply, data) bind(c, name="ayatori_set_operator")
      import
      type(c_ptr), value :: solver
      integer(c_int64_t), value :: rows
      type(c_funptr), value :: apply
      type(c_ptr), value :: data
    end function
    integer(c_int) function c_set_progress(solver, progress, data) bind(c, name="ayatori_set_progress")
      import
      type(c_ptr), value :: solver
      type(c_funptr), value :: progress
      type(c_ptr), value :: data
    end function
    integer(c_int) function c_set_stop(solver, stop, data) bind(c, name="ayatori_set_stop")
      import
      type(c_ptr), value :: solver
      type(c_funptr), value :: stop
      type(c_ptr), value :: data
    end function
    integer(c_int) function c_solve(solver, b, x, result) bind(c, name="ayatori_solve")
      import
      type(c_ptr), value :: solver
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      type(ayatori_result), intent(inout) :: result
    end function
    integer(c_int) function c_solve_many(solver, count, b, x, results) bind(c, name="ayatori_solve_many")
      import
      type(c_ptr), value :: solver
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: b(*), x(*)
      type(ayatori_result), intent(inout) :: results(*)
    end function
    type(c_ptr) function c_report_json(solver) bind(c, name="ayatori_report_json")
      import
      type(c_ptr), value :: solver
    end function
    type(c_ptr) function c_summary(solver) bind(c, name="ayatori_summary")
      import
      type(c_ptr), value :: solver
    end function
    type(c_ptr) function c_explanation(solver) bind(c, name="ayatori_explanation")
      import
      type(c_ptr), value :: solver
    end function
    type(c_ptr) function c_reuse(solver) bind(c, name="ayatori_reuse")
      import
      type(c_ptr), value :: solver
    end function
    type(c_ptr) function c_error_text(solver) bind(c, name="ayatori_error_text")
      import
      type(c_ptr), value :: solver
    end function
    type(c_ptr) function c_status_text(status) bind(c, name="ayatori_status_text")
      import
      integer(c_int), value :: status
    end function
    type(c_ptr) function c_version() bind(c, name="ayatori_version")
      import
    end function
    type(c_ptr) function c_build_info() bind(c, name="ayatori_build_info")
      import
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Without `comm` the solver is of this process alone. With mpi_f08: comm%mpi_val.
  subroutine ayatori_create(solver, comm, ierr)
    type(ayatori_solver), intent(out) :: solver
    integer, intent(in), optional :: comm
    integer, intent(out) :: ierr
    integer :: ignored
    if (present(comm)) then
      ierr = c_create_f(int(comm, c_int), solver%handle)
    else
      ierr = c_create(c_null_ptr, solver%handle)
    end if
    if (ierr == AYATORI_OK) ignored = c_set_index_base(solver%handle, 1_c_int)
  end subroutine

  subroutine ayatori_destroy(solver)
    type(ayatori_solver), intent(inout) :: solver
    call c_destroy(solver%handle)
    solver%handle = c_null_ptr
  end subroutine

  subroutine ayatori_set_option(solver, name, value, ierr)
    type(ayatori_solver), intent(in) :: solver
    character(*), intent(in) :: name, value
    integer, intent(out) :: ierr
    ierr = c_set_option(solver%handle, trim(name)//c_null_char, trim(value)//c_null_char)
  end subroutine

  function ayatori_get_option(solver, name) result(text)
    type(ayatori_solver), intent(in) :: solver
    character(*), intent(in) :: name
    character(:), allocatable :: text
    text = text_at(c_get_option(solver%handle, trim(name)//c_null_char))
  end function

  subroutine set_matrix_i32(solver, row_start, column, value, global_columns, ierr)
    type(ayatori_solver), intent(in) :: solver
    integer(c_int32_t), contiguous, intent(in) :: row_start(:), column(:)
    real(c_double), contiguous, intent(in) :: value(:)
    integer(c_int64_t), intent(in) :: global_columns
    integer, intent(out) :: ierr
    integer(c_int64_t) :: last
    last = 0
    if (size(row_start) > 0) last = row_start(size(row_start))
    call check_matrix(solver, size(row_start), last, size(column, kind=c_int64_t), size(value, kind=c_int64_t))
    ierr = c_set_matrix_i32(solver%handle, size(row_start, kind=c_int64_t) - 1, global_columns, row_start, column, value)
  end subroutine

  subroutine set_matrix_i64(solver, row_start, column, value, global_columns, ierr)
    type(ayatori_solver), intent(in) :: solver
    integer(c_int64_t), contiguous, intent(in) :: row_start(:), column(:)
    real(c_double), contiguous, intent(in) :: value(:)
    integer(c_int64_t), intent(in) :: global_columns
    integer, intent(out) :: ierr
    integer(c_int64_t) :: last
    last = 0
    if (size(row_start) > 0) last = row_start(size(row_start))
    call check_matrix(solver, size(row_start), last, size(column, kind=c_int64_t), size(value, kind=c_int64_t))
    ierr = c_set_matrix_i64(solver%handle, size(row_start, kind=c_int64_t) - 1, global_columns, row_start, column, value)
  end subroutine

  ! Has the next call refused where the arrays of a matrix are shorter than row_start says.
  subroutine check_matrix(solver, pointers, last, columns, values)
    type(ayatori_solver), intent(in) :: solver
    integer, intent(in) :: pointers
    integer(c_int64_t), intent(in) :: last, columns, values
    if (pointers < 1) then
      call refuse(solver, "row_start has no element: it has one more than this rank has rows")
    else if (columns < last - 1) then
      call refuse(solver, "column has "//in_digits(columns)//" elements, but row_start ends with "//in_digits(last))
    else if (values < last - 1) then
      call refuse(solver, "value has "//in_digits(values)//" elements, but row_start ends with "//in_digits(last))
    end if
  end subroutine

  ! Has the next call refused where b or x are not as long as this rank's rows are many.
  subroutine check_vectors(solver, of_b, of_x)
    type(ayatori_solver), intent(in) :: solver
    integer, intent(in) :: of_b, of_x
    integer(c_int64_t) :: rows
    rows = c_local_rows(solver%handle)
    if (of_b /= rows) then
      call refuse(solver, "b has "//in_digits(int(of_b, c_int64_t))//" elements for "//in_digits(rows)//" rows of this rank")
    else if (of_x /= rows) then
      call refuse(solver, "x has "//in_digits(int(of_x, c_int64_t))//" elements for "//in_digits(rows)//" rows of this rank")
    end if
  end subroutine

  subroutine refuse(solver, why)
    type(ayatori_solver), intent(in) :: solver
    character(*), intent(in) :: why
    integer :: ignored
    ignored = c_refuse_next(solver%handle, why//c_null_char)
  end subroutine

  function in_digits(number) result(text)
    integer(c_int64_t), intent(in) :: number
    character(:), allocatable :: text
    character(20) :: field
    write (field, "(i0)") number
    text = trim(field)
  end function

  ! coordinates(axis, row), with three axes.
  subroutine ayatori_set_coordinates(solver, coordinates, ierr)
    type(ayatori_solver), intent(in) :: solver
    real(c_double), contiguous, intent(in) :: coordinates(:, :)
    integer, intent(out) :: ierr
    if (size(coordinates, 1) /= 3) then
      ierr = AYATORI_BAD_INPUT
      return
    end if
    ierr = c_set_coordinates(solver%handle, size(coordinates, 2, kind=c_int64_t), coordinates)
  end subroutine

  ! Without `apply`, solves go by the matrix again.
  subroutine ayatori_set_operator(solver, local_rows, apply, data, ierr)
    type(ayatori_solver), intent(in) :: solver
    integer, intent(in) :: local_rows
    procedure(ayatori_apply), optional :: apply
    type(c_ptr), intent(in), optional :: data
    integer, intent(out) :: ierr
    type(c_funptr) :: function
    function = c_null_funptr
    if (present(apply)) function = c_funloc(apply)
    ierr = c_set_operator(solver%handle, int(local_rows, c_int64_t), function, data_or_null(data))
  end subroutine

  ! Without `progress`, nobody is told.
  subroutine ayatori_set_progress(solver, progress, data, ierr)
    type(ayatori_solver), intent(in) :: solver
    procedure(ayatori_progress), optional :: progress
    type(c_ptr), intent(in), optional :: data
    integer, intent(out) :: ierr
    type(c_funptr) :: function
    function = c_null_funptr
    if (present(progress)) function = c_funloc(progress)
    ierr = c_set_progress(solver%handle, function, data_or_null(data))
  end subroutine

  ! Without `stop`, nobody is asked.
  subroutine ayatori_set_stop(solver, stop, data, ierr)
    type(ayatori_solver), intent(in) :: solver
    procedure(ayatori_stop), optional :: stop
    type(c_ptr), intent(in), optional :: data
    integer, intent(out) :: ierr
    type(c_funptr) :: function
    function = c_null_funptr
    if (present(stop)) function = c_funloc(stop)
    ierr = c_set_stop(solver%handle, function, data_or_null(data))
  end subroutine

  function data_or_null(data) result(address)
    type(c_ptr), intent(in), optional :: data
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(data)) address = data
  end function

  ! b and x have as many elements as this rank has rows.
  subroutine solve_one(solver, b, x, result, ierr)
    type(ayatori_solver), intent(in) :: solver
    real(c_double), contiguous, intent(in) :: b(:)
    real(c_double), contiguous, intent(inout) :: x(:)
    type(ayatori_result), intent(inout) :: result
    integer, intent(out) :: ierr
    call check_vectors(solver, size(b), size(x))
    ierr = c_solve(solver%handle, b, x, result)
  end subroutine

  ! One right-hand side in each column of b; results has as many elements.
  subroutine solve_many(solver, b, x, results, ierr)
    type(ayatori_solver), intent(in) :: solver
    real(c_double), contiguous, target, intent(in) :: b(:, :)
    real(c_double), contiguous, target, intent(inout) :: x(:, :)
    type(ayatori_result), contiguous, intent(inout) :: results(:)
    integer, intent(out) :: ierr
    type(c_ptr) :: all_b(size(b, 2)), all_x(size(b, 2))
    integer :: k
    call check_vectors(solver, size(b, 1), size(x, 1))
    if (size(x, 2) /= size(b, 2) .or. size(results) /= size(b, 2)) then
      call refuse(solver, "b, x and results are not of as many right-hand sides")
      ierr = c_solve_many(solver%handle, 0_c_int, all_b, all_x, results)
      return
    end if
    do k = 1, size(b, 2)
      all_b(k) = c_loc(b(1, k))
      all_x(k) = c_loc(x(1, k))
    end do
    ierr = c_solve_many(solver%handle, int(size(b, 2), c_int), all_b, all_x, results)
  end subroutine

  function ayatori_report_json(solver) result(text)
    type(ayatori_solver), intent(in) :: solver
    character(:), allocatable :: text
    text = text_at(c_report_json(solver%handle))
  end function

  function ayatori_summary(solver) result(text)
    type(ayatori_solver), intent(in) :: solver
    character(:), allocatable :: text
    text = text_at(c_summary(solver%handle))
  end function

  function ayatori_explanation(solver) result(text)
    type(ayatori_solver), intent(in) :: solver
    character(:), allocatable :: text
    text = text_at(c_explanation(solver%handle))
  end function

  function ayatori_reuse(solver) result(text)
    type(ayatori_solver), intent(in) :: solver
    character(:), allocatable :: text
    text = text_at(c_reuse(solver%handle))
  end function

  function ayatori_error_text(solver) result(text)
    type(ayatori_solver), intent(in) :: solver
    character(:), allocatable :: text
    text = text_at(c_error_text(solver%handle))
  end function

  function ayatori_status_text(status) result(text)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: text
    text = text_at(c_status_text(status))
  end function

  function ayatori_version() result(text)
    character(:), allocatable :: text
    text = text_at(c_version())
  end function

  function ayatori_build_info() result(text)
    character(:), allocatable :: text
    text = text_at(c_build_info())
  end function

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(c_char), pointer :: characters(:)
    integer :: i
    if (.not. c_associated(address)) then
      text = ""
      return
    end if
    call c_f_pointer(address, characters, [c_strlen(address)])
    allocate (character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function

end module
