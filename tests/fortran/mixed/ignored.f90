! With ignored.c: what C gets for the statuses that a Fortran program ignores, by the older interfaces and by mpi_f08.
program main
  use mpi
  use, intrinsic :: iso_c_binding, only: c_loc, c_int, c_ptr
  implicit none
  interface
    integer(c_int) function same_as_in_c(status, statuses) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: status, statuses
    end function same_as_in_c
  end interface
  integer, parameter :: n = 200
  integer :: i, rank, ierr
  integer, save :: requests(2 * n), out(n), in(n)
  integer :: statuses(MPI_STATUS_SIZE, 2 * n), guard(4000)
  common /guarded/ guard

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (same(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE) == 0) stop 1
  if (same_in_f08() == 0) stop 2
  guard = 0
  out = [(i, i = 1, n)]
  call exchange()
  call MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE, ierr)
  if (any(in /= out) .or. any(guard /= 0)) stop 3
  call exchange()
  call MPI_Waitall(2 * n, requests, statuses, ierr)
  if (any(statuses(MPI_TAG, n+1:2*n) /= out)) stop 4
  call MPI_Finalize(ierr)

contains

  subroutine exchange()
    in = 0
    do i = 1, n
      call MPI_Isend(out(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, requests(i), ierr)
      call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, requests(n + i), ierr)
    end do
  end subroutine exchange

  integer function same(status, statuses)
    integer, target :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, *)
    same = same_as_in_c(c_loc(status), c_loc(statuses))
  end function same

  integer function same_in_f08()
    use mpi_f08, only: MPI_Status, one => MPI_STATUS_IGNORE, many => MPI_STATUSES_IGNORE
    same_in_f08 = of_f08(one, many)
  end function same_in_f08

  integer function of_f08(status, statuses)
    use mpi_f08, only: MPI_Status
    type(MPI_Status), target :: status, statuses(*)
    of_f08 = same_as_in_c(c_loc(status), c_loc(statuses))
  end function of_f08
end program main
