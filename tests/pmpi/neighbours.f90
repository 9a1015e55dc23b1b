! Neighbourhood collectives of a Fortran program, on a ring.
program neighbours
  use mpi
  implicit none
  integer :: rank, ranks, error, ring, before, after
  integer :: lengths(1), mine(2), theirs(2), counts(2), places(2), types(2)
  integer(kind=MPI_ADDRESS_KIND) :: bytes(2)
  logical :: are_periodic(1)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  lengths = ranks
  are_periodic = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, lengths, are_periodic, .false., ring, error)
  call MPI_Cart_shift(ring, 0, 1, before, after, error)
  mine = rank
  counts = 1
  places = [0, 1]
  bytes = [0, 4]
  types = MPI_INTEGER
  call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, theirs, 1, MPI_INTEGER, ring, error)
  call expect('allgather')
  call MPI_Neighbor_allgatherv(mine, 1, MPI_INTEGER, theirs, counts, places, MPI_INTEGER, ring, error)
  call expect('allgatherv')
  call MPI_Neighbor_alltoall(mine, 1, MPI_INTEGER, theirs, 1, MPI_INTEGER, ring, error)
  call expect('alltoall')
  call MPI_Neighbor_alltoallv(mine, counts, places, MPI_INTEGER, theirs, counts, places, MPI_INTEGER, ring, error)
  call expect('alltoallv')
  if (ranks > 1) then  ! that of Open MPI 4.1.4 fails on one
    call MPI_Neighbor_alltoallw(mine, counts, bytes, types, theirs, counts, bytes, types, ring, error)
    call expect('alltoallw')
  end if
  call MPI_Comm_free(ring, error)
  call MPI_Finalize(error)

contains

  subroutine expect(what)
    character(len=*), intent(in) :: what
    integer :: ignored
    if (error /= MPI_SUCCESS .or. theirs(1) /= before .or. theirs(2) /= after) then
      write (0, *) 'rank', rank, 'wrong: ', what
      call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end if
    theirs = -1
  end subroutine
end program
