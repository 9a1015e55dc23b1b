! Rows that the program has, solved on all ranks: mpirun -n 2 ./rows
program rows
  use ayatori
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: local_rows = 1000
  integer :: row_start(local_rows + 1), column(3*local_rows), rank, ranks, first, n, i, j, ierr
  real(c_double) :: value(3*local_rows), b(local_rows), x(local_rows)
  type(ayatori_solver) :: solver
  type(ayatori_result) :: result

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  first = rank*local_rows
  n = 0
  do i = 1, local_rows            ! -u'' on a line: row first + i
    row_start(i) = n + 1
    do j = max(first + i - 1, 1), min(first + i + 1, ranks*local_rows)
      n = n + 1
      column(n) = j
      value(n) = merge(2, -1, j == first + i)
    end do
  end do
  row_start(local_rows + 1) = n + 1
  b = 1
  x = 0

  call ayatori_create(solver, MPI_COMM_WORLD, ierr)
  if (ierr == 0) call ayatori_set_option(solver, "rtol", "1e-10", ierr)
  if (ierr == 0) call ayatori_set_matrix(solver, row_start, column(:n), value(:n), int(ranks*local_rows, c_int64_t), ierr)
  if (ierr == 0) call ayatori_solve(solver, b, x, result, ierr)
  if (ierr /= 0) print *, ayatori_error_text(solver)
  if (ierr == 0 .and. rank == 0) print *, ayatori_status_text(result%status), result%relative_residual
  call ayatori_destroy(solver)
  call MPI_Finalize(i)
  if (ierr /= 0 .or. result%converged /= 1) stop 1
end program
