! ranks: 1 2 3 4
! Collectives through module mpi: the types of Fortran, reductions on them, vectors, alltoallw with arrays of datatypes.
program main
  use mpi
  implicit none
  integer :: ierr, rank, size, i
  integer, allocatable :: counts(:), displs(:), types(:), all(:)
  real :: r(3), rs(3)
  double precision :: d
  complex :: c, cs
  double complex :: z, zs
  logical :: l, ls
  integer(kind=8) :: k, ks
  real :: pair(2), best(2)
  character(len=5) :: word

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  r = rank + [1., 2., 3.]
  call MPI_Allreduce(r, rs, 3, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(all_equal(rs(3), real(sum([(i + 3, i = 0, size - 1)]))), 1)
  d = rank
  call MPI_Allreduce(MPI_IN_PLACE, d, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  call check(d == size - 1, 2)
  c = cmplx(rank, 1)
  call MPI_Allreduce(c, cs, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(aimag(cs) == size, 3)
  z = (0d0, 1d0)
  call MPI_Allreduce(z, zs, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierr)
  call check(abs(zs - (0d0, 1d0)**size) < 1d-12, 4)
  l = rank == 0
  call MPI_Allreduce(l, ls, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
  call check(ls, 5)
  call MPI_Allreduce(l, ls, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  call check(ls .eqv. size == 1, 6)
  k = 2_8**40
  call MPI_Allreduce(k, ks, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(ks == k * size, 7)
  pair = [real(mod(rank + 1, size)), real(rank)]
  call MPI_Allreduce(pair, best, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
  call check(best(1) == size - 1, 8)
  if (rank == 0) word = 'hello'
  call MPI_Bcast(word, 5, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  call check(word == 'hello', 9)

  allocate (counts(size), displs(size), types(size), all(size * (size + 1) / 2))
  counts = [(i, i = 1, size)]
  displs = [(i * (i - 1) / 2, i = 1, size)]
  call MPI_Allgatherv([(rank, i = 0, rank)], rank + 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call check(all(size * (size + 1) / 2) == size - 1, 10)

  block
    integer, allocatable :: out(:), in(:)
    integer :: request
    allocate (out(size), in(size))
    out = rank * 100 + [(i, i = 0, size - 1)]
    in = -1
    counts = 1
    displs = [(4 * i, i = 0, size - 1)]
    types = MPI_INTEGER
    call MPI_Ialltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check(in(size) == (size - 1) * 100 + rank, 11)
    call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, ierr)
    call check(in(size) == rank * 100 + size - 1, 12)
  end block
  call MPI_Finalize(ierr)

contains

  logical function all_equal(a, b)
    real, intent(in) :: a, b
    all_equal = abs(a - b) < 1e-5
  end function all_equal

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed'
    stop 1
  end subroutine check
end program main
