! ranks: 1 2 4
! A 2-D heat solver with mpi_f08: rows of a plate by rank, halos by nonblocking calls, sections of arrays as they are.
!
!   cargo xtask build && dist/bin/mpifort -O2 examples/fortran/heat.f90 -o heat && dist/bin/mpirun -n 4 ./heat
program heat
  use mpi_f08
  implicit none
  integer, parameter :: n = 64, steps = 400
  double precision, allocatable :: plate(:,:), next(:,:)
  double precision :: mine, total
  type(MPI_Comm) :: line
  type(MPI_Request) :: requests(4)
  integer :: rank, size, rows, first, up, down, i, j, step

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.false.], .true., line)
  call MPI_Comm_rank(line, rank)
  call MPI_Cart_shift(line, 0, 1, up, down)
  first = rank * n / size + 1
  rows = (rank + 1) * n / size - first + 1
  allocate (plate(0:rows + 1, 0:n + 1), next(0:rows + 1, 0:n + 1))
  plate = 0
  if (rank == 0) plate(0, :) = 100
  next = plate
  do step = 1, steps
    ! A row of a Fortran array has gaps between its elements; mpi_f08 knows.
    call MPI_Irecv(plate(0, 1:n), n, MPI_DOUBLE_PRECISION, up, 1, line, requests(1))
    call MPI_Irecv(plate(rows + 1, 1:n), n, MPI_DOUBLE_PRECISION, down, 2, line, requests(2))
    call MPI_Isend(plate(1, 1:n), n, MPI_DOUBLE_PRECISION, up, 2, line, requests(3))
    call MPI_Isend(plate(rows, 1:n), n, MPI_DOUBLE_PRECISION, down, 1, line, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    do j = 1, n
      do i = 1, rows
        next(i, j) = 0.25d0 * (plate(i - 1, j) + plate(i + 1, j) + plate(i, j - 1) + plate(i, j + 1))
      end do
    end do
    plate(1:rows, 1:n) = next(1:rows, 1:n)
  end do
  mine = sum(plate(1:rows, 1:n))
  call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, line)
  if (rank == 0) print '(a,f0.6)', 'heat in the plate: ', total
  ! The same on any number of ranks.
  if (rank == 0 .and. abs(total - expected()) > 1d-6) call MPI_Abort(line, 1)
  call MPI_Finalize()

contains

  !> The same by one process alone.
  double precision function expected()
    double precision :: old(0:n + 1, 0:n + 1), new(0:n + 1, 0:n + 1)
    integer :: step
    old = 0
    old(0, :) = 100
    new = old
    do step = 1, steps
      new(1:n, 1:n) = 0.25d0 * (old(0:n - 1, 1:n) + old(2:n + 1, 1:n) + old(1:n, 0:n - 1) + old(1:n, 2:n + 1))
      old = new
    end do
    expected = sum(old(1:n, 1:n))
  end function expected
end program heat
