! Sections of the same shape again and again, of different arrays, more shapes than datatypes are kept for, and several under way.
! ranks: 1
program kept
  use mpi_f08
  implicit none
  integer, parameter :: most = 40
  integer :: a(most, most), b(most, most), c(most, most), wrong, turn, n, i, j
  type(MPI_Request) :: requests(2)
  wrong = 0
  call MPI_Init()
  do turn = 1, 3
    do n = 2, most
      call fill(a, turn * 1000 + n)
      b = -1
      c = -1
      ! Where a call ends the operation, and where it goes on.
      call MPI_Sendrecv(a(1:n:2, 1:n), n * ((n + 1) / 2), MPI_INTEGER, 0, 1, b(1:n:2, 1:n), n * ((n + 1) / 2), MPI_INTEGER, &
        0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
      call MPI_Irecv(c(1:n:2, 1:n), n * ((n + 1) / 2), MPI_INTEGER, 0, 2, MPI_COMM_SELF, requests(1))
      call MPI_Isend(a(1:n:2, 1:n), n * ((n + 1) / 2), MPI_INTEGER, 0, 2, MPI_COMM_SELF, requests(2))
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      do j = 1, most
        do i = 1, most
          if (i <= n .and. j <= n .and. mod(i, 2) == 1) then
            if (b(i, j) /= a(i, j) .or. c(i, j) /= a(i, j)) wrong = wrong + 1
          else
            if (b(i, j) /= -1 .or. c(i, j) /= -1) wrong = wrong + 1
          end if
        end do
      end do
    end do
  end do
  ! The same shape and another type.
  call MPI_Sendrecv(a(1:9:2, 1:9), 45, MPI_REAL, 0, 1, b(1:9:2, 1:9), 45, MPI_REAL, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  if (any(b(1:9:2, 1:9) /= a(1:9:2, 1:9))) wrong = wrong + 1
  ! Fewer of them.
  b = -1
  call MPI_Sendrecv(a(1:9:2, 1:9), 10, MPI_INTEGER, 0, 1, b(1:9:2, 1:9), 45, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  if (any(b(1:9:2, 1:2) /= a(1:9:2, 1:2)) .or. any(b(:, 3:) /= -1)) wrong = wrong + 1
  call MPI_Finalize()
  if (wrong > 0) then
    print *, wrong, 'elements are wrong'
    stop 1
  end if

contains

  subroutine fill(array, seed)
    integer :: array(most, most), seed
    do j = 1, most
      do i = 1, most
        array(i, j) = seed + 100 * i + j
      end do
    end do
  end subroutine fill
end program kept
