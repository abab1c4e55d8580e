! The exchanges of benches/c/sections.c by module mpi_f08.
module sections
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: tag = 17, rows = 64, some = 16

contains

  ! Round trips of whole arrays of 16 rows.
  subroutine whole_arrays(rank, iterations, columns, out, in) bind(C, name="whole_arrays")
    integer(c_int), value :: rank, iterations, columns
    integer(c_int) :: out(some, columns), in(some, columns)
    integer :: i
    do i = 1, iterations
      if (rank == 0) call MPI_Send(out, some * columns, MPI_INTEGER, 1, tag, MPI_COMM_WORLD)
      call MPI_Recv(in, some * columns, MPI_INTEGER, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      if (rank == 1) call MPI_Send(out, some * columns, MPI_INTEGER, 0, tag, MPI_COMM_WORLD)
    end do
  end subroutine whole_arrays

  ! Round trips of 16 of the 64 rows of arrays.
  subroutine some_rows(rank, iterations, columns, out, in) bind(C, name="some_rows")
    integer(c_int), value :: rank, iterations, columns
    integer(c_int) :: out(rows, columns), in(rows, columns)
    integer :: i
    do i = 1, iterations
      if (rank == 0) call MPI_Send(out(:some, :), some * columns, MPI_INTEGER, 1, tag, MPI_COMM_WORLD)
      call MPI_Recv(in(:some, :), some * columns, MPI_INTEGER, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      if (rank == 1) call MPI_Send(out(:some, :), some * columns, MPI_INTEGER, 0, tag, MPI_COMM_WORLD)
    end do
  end subroutine some_rows

end module sections
