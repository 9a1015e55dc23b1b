! Reductions by operations that are none, and a type that was not committed, in Fortran: errors come back.
program arguments
  use mpi
  implicit none
  integer :: comm, error, type, to(8), counts(64), i
  integer, parameter :: from(8) = 1
  integer :: operations(2)

  call MPI_Init(error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, error)
  counts = 1
  operations = (/MPI_REPLACE, MPI_NO_OP/)
  do i = 1, 2
    call MPI_Allreduce(from, to, 1, MPI_INTEGER, operations(i), comm, error)
    call expect(MPI_ERR_OP, 'allreduce')
    call MPI_Reduce(from, to, 1, MPI_INTEGER, operations(i), 0, comm, error)
    call expect(MPI_ERR_OP, 'reduce')
    call MPI_Reduce_scatter(from, to, counts, MPI_INTEGER, operations(i), comm, error)
    call expect(MPI_ERR_OP, 'reduce_scatter')
    call MPI_Reduce_scatter_block(from, to, 1, MPI_INTEGER, operations(i), comm, error)
    call expect(MPI_ERR_OP, 'reduce_scatter_block')
    call MPI_Scan(from, to, 1, MPI_INTEGER, operations(i), comm, error)
    call expect(MPI_ERR_OP, 'scan')
    call MPI_Exscan(from, to, 1, MPI_INTEGER, operations(i), comm, error)
    call expect(MPI_ERR_OP, 'exscan')
  end do
  call MPI_Type_contiguous(2, MPI_INTEGER, type, error)
  call MPI_Bcast(to, 1, type, 0, comm, error)
  call expect(MPI_ERR_TYPE, 'bcast')
  call MPI_Allgather(from, 1, type, to, 1, type, comm, error)
  call expect(MPI_ERR_TYPE, 'allgather')
  call MPI_Type_free(type, error)
  call MPI_Finalize(error)

contains

  subroutine expect(wanted, what)
    integer, intent(in) :: wanted
    character(*), intent(in) :: what
    integer :: class, ignored
    call MPI_Error_class(error, class, ignored)
    if (class /= wanted) then
      print *, what, ': class', class, 'instead of', wanted
      call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end if
  end subroutine
end program
