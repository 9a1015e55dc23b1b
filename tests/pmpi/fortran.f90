! Collective calls and messages of a Fortran program, by the module `mpi` or (with -DF08) by `mpi_f08`.
program fortran
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, ranks, error, root, i, next, previous
  integer, parameter :: n = 50
  double precision :: mine(n), theirs(n)
  double precision, allocatable :: all(:), blocks(:)
  integer, allocatable :: counts(:), places(:), own_counts(:), own_places(:)
  integer :: own
#ifdef F08
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: type_of_halves
  type(MPI_Op) :: op
#else
  integer :: requests(2), type_of_halves, op
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  allocate (all(n * ranks), blocks(n * ranks), counts(ranks), places(ranks), own_counts(ranks), own_places(ranks))
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)

  mine = rank
  call MPI_Sendrecv(mine, n, MPI_DOUBLE_PRECISION, next, 1, theirs, n, MPI_DOUBLE_PRECISION, previous, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call expect(all_are(theirs, dble(previous)), 'sendrecv')

  do root = 0, ranks - 1
    mine = rank
    call MPI_Bcast(mine, n, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, error)
    call expect(all_are(mine, dble(root)), 'bcast')

    mine = rank + 1
    call MPI_Reduce(mine, theirs, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD, error)
    if (rank == root) call expect(all_are(theirs, sum_of_ranks()), 'reduce')
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, mine, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD, error)
      call expect(all_are(mine, sum_of_ranks()), 'reduce in place')
    else
      call MPI_Reduce(mine, theirs, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD, error)
    end if

    mine = rank
    all = -1
    call MPI_Gather(mine, n, MPI_DOUBLE_PRECISION, all, n, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, error)
    do i = 0, ranks - 1
      if (rank == root) call expect(all_are(all(i * n + 1:(i + 1) * n), dble(i)), 'gather')
    end do
    do i = 0, ranks - 1
      all(i * n + 1:(i + 1) * n) = i
    end do
    if (rank == root) then
      call MPI_Scatter(all, n, MPI_DOUBLE_PRECISION, MPI_IN_PLACE, n, MPI_DOUBLE_PRECISION, root, &
                       MPI_COMM_WORLD, error)
    else
      call MPI_Scatter(all, n, MPI_DOUBLE_PRECISION, theirs, n, MPI_DOUBLE_PRECISION, root, &
                       MPI_COMM_WORLD, error)
      call expect(all_are(theirs, dble(rank)), 'scatter')
    end if
  end do

  mine = rank + 1
  call MPI_Allreduce(mine, theirs, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all_are(theirs, sum_of_ranks()), 'allreduce')
  call MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all_are(mine, sum_of_ranks()), 'allreduce in place')

  all = -1
  all(rank * n + 1:(rank + 1) * n) = rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  do i = 0, ranks - 1
    call expect(all_are(all(i * n + 1:(i + 1) * n), dble(i)), 'allgather in place')
  end do

  all = rank
  call MPI_Alltoall(all, n, MPI_DOUBLE_PRECISION, blocks, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  do i = 0, ranks - 1
    call expect(all_are(blocks(i * n + 1:(i + 1) * n), dble(i)), 'alltoall')
  end do

  all = rank + 1
  call MPI_Reduce_scatter_block(all, mine, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all_are(mine, sum_of_ranks()), 'reduce_scatter_block')

  do i = 1, ranks
    counts(i) = mod(i, 3) * 10
    places(i) = sum(counts(:i - 1))
  end do
  own = counts(rank + 1)
  mine = rank
  call MPI_Allgatherv(mine, own, MPI_DOUBLE_PRECISION, all, counts, places, MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD, error)
  do i = 1, ranks
    call expect(all_are(all(places(i) + 1:places(i) + counts(i)), dble(i - 1)), 'allgatherv')
  end do
  all = rank + 1
  call MPI_Reduce_scatter(all, mine, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all_are(mine(:own), sum_of_ranks()), 'reduce_scatter')

  mine = rank
  all = -1
  call MPI_Gatherv(mine, own, MPI_DOUBLE_PRECISION, all, counts, places, MPI_DOUBLE_PRECISION, 0, &
                   MPI_COMM_WORLD, error)
  do i = 1, ranks
    if (rank == 0) call expect(all_are(all(places(i) + 1:places(i) + counts(i)), dble(i - 1)), 'gatherv')
  end do
  if (rank == 0) then
    call MPI_Scatterv(all, counts, places, MPI_DOUBLE_PRECISION, MPI_IN_PLACE, own, MPI_DOUBLE_PRECISION, 0, &
                      MPI_COMM_WORLD, error)
  else
    theirs = -1
    call MPI_Scatterv(all, counts, places, MPI_DOUBLE_PRECISION, theirs, own, MPI_DOUBLE_PRECISION, 0, &
                      MPI_COMM_WORLD, error)
    call expect(all_are(theirs(:own), dble(rank)), 'scatterv')
  end if
  all = rank
  do i = 1, ranks
    own_counts(i) = own
    own_places(i) = own * (i - 1)
  end do
  call MPI_Alltoallv(all, counts, places, MPI_DOUBLE_PRECISION, blocks, own_counts, own_places, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  do i = 1, ranks
    call expect(all_are(blocks(own * (i - 1) + 1:own * i), dble(i - 1)), 'alltoallv')
  end do

  ! The error is optional in mpi_f08 alone.
  call MPI_Send_init(mine, n, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, requests(1), error)
  call MPI_Recv_init(theirs, n, MPI_DOUBLE_PRECISION, previous, 2, MPI_COMM_WORLD, requests(2), error)
  call MPI_Startall(2, requests, error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
#ifdef F08
  call MPI_Start(requests(2))
  call MPI_Start(requests(1))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
#else
  call MPI_Start(requests(2), error)
  call MPI_Start(requests(1), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
#endif
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), error)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)

  ! Calls with what is freed before they end.
  call MPI_Type_vector(n / 2, 1, 2, MPI_DOUBLE_PRECISION, type_of_halves, error)
  call MPI_Type_commit(type_of_halves, error)
  call MPI_Op_create(add, .true., op, error)
  mine = rank
  theirs = rank + 1
  call MPI_Ibcast(mine, 1, type_of_halves, ranks - 1, MPI_COMM_WORLD, requests(1), error)
  call MPI_Iallreduce(MPI_IN_PLACE, theirs, n, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, requests(2), error)
  call MPI_Type_free(type_of_halves, error)
  call MPI_Op_free(op, error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call expect(all_are(mine(1::2), dble(ranks - 1)) .and. all_are(mine(2::2), dble(rank)), 'ibcast')
  call expect(all_are(theirs, sum_of_ranks()), 'iallreduce')
  call MPI_Finalize(error)

contains

#ifdef F08
  subroutine add(in, inout, count, of)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: count
    type(MPI_Datatype) :: of
    double precision, pointer :: left(:), right(:)
    call c_f_pointer(in, left, [count])
    call c_f_pointer(inout, right, [count])
    right = left + right
  end subroutine
#else
  subroutine add(in, inout, count, of)
    integer :: count, of
    double precision :: in(count), inout(count)
    inout = in + inout
  end subroutine
#endif

  logical function all_are(values, value)
    double precision, intent(in) :: values(:), value
    all_are = all_of(values == value)
  end function

  logical function all_of(flags)
    logical, intent(in) :: flags(:)
    all_of = count(flags) == size(flags)
  end function

  double precision function sum_of_ranks()
    sum_of_ranks = ranks * (ranks + 1) / 2
  end function

  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    integer :: ignored
    if (is_right) return
    write (0, *) 'rank', rank, 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
