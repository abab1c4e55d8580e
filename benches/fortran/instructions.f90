! What a procedure of Fortran costs more than the function of C, in instructions, for callgrind: `cargo xtask test fortran/instructions`.
! All but one send to MPI_PROC_NULL, so that little else is counted. The first sends, which set up what is set up lazily, are not counted.
module sends
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, asynchronous, target :: buffer(64, 64)
  integer :: ierr
  integer, asynchronous :: strided(2, 4096)

  interface
    integer(c_int) function c_send(buf, count, datatype, dest, tag, comm) bind(C, name="MPI_Send")
      import
      type(c_ptr), value :: buf
      integer(c_int), value :: count, dest, tag
      integer(c_intptr_t), value :: datatype, comm
    end function c_send
  end interface

contains

  subroutine from_c() bind(C, name="count_c")
    ierr = c_send(c_loc(buffer), 16, int(MPI_INTEGER%MPI_VAL, c_intptr_t), MPI_PROC_NULL, 5, &
      int(MPI_COMM_WORLD%MPI_VAL, c_intptr_t))
    ierr = ierr + 1
  end subroutine from_c

  subroutine scalar() bind(C, name="count_f08_scalar")
    call MPI_Send(buffer(1, 1), 1, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD)
    ierr = ierr + 1
  end subroutine scalar

  subroutine contiguous() bind(C, name="count_f08_array")
    call MPI_Send(buffer, 16, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD, ierr)
    ierr = ierr + 1
  end subroutine contiguous

  ! 4096 elements that are copied three times, and added.
  subroutine copied() bind(C, name="count_f08_copied")
    call MPI_Reduce_local(strided(1, :), strided(2, :), 4096, MPI_INTEGER, MPI_SUM, ierr)
    ierr = ierr + 1
  end subroutine copied
end module sends

! With module mpi or mpif.h.
subroutine older() bind(C, name="count_mpi")
  use sends, only : buffer, ierr
  use mpi
  implicit none
  call MPI_Send(buffer, 16, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD, ierr)
  ierr = ierr + 1
end subroutine older

program main
  use sends
  implicit none
  interface
    subroutine older() bind(C, name="count_mpi")
    end subroutine older
  end interface
  integer :: turn
  call MPI_Init()
  strided = 0
  do turn = 1, 8
    call MPI_Send(buffer, 16, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD, ierr)
  end do
  do turn = 1, 8
    call from_c()
    call scalar()
    call contiguous()
    call older()
    call copied()
  end do
  call MPI_Finalize()
end program main
