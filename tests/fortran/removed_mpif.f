! ranks: 1 2
! Routines that MPI 3.0 removed, with displacements of default kind: datatypes of each constructor are sent to the own process,
! MPI_LB and MPI_UB mark bounds as MPI 1.1 section 3.12.3 says, an error handler is called.
      program main
      implicit none
      include 'mpif.h'
      external handler
      common /seen/ handled
      integer handled
      integer ierr, rank, newtype, pair, n, extent, lb, ub
      integer lengths(3), at(3), types(3), status(MPI_STATUS_SIZE)
      integer sent(12), received(12), errhandler, again, i, large
      integer(kind=MPI_ADDRESS_KIND) wide
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      do i = 1, 12
        sent(i) = i
      end do
! Of 12 integers every third.
      call MPI_TYPE_HVECTOR(4, 1, 12, MPI_INTEGER, newtype, ierr)
      call check(ierr .eq. MPI_SUCCESS, 1)
      call bounds(newtype, 0, 40, 2)
      call exchange(newtype, sent, received)
      call check(received(4) .eq. 4 .and. received(5) .eq. 0, 3)
      call MPI_TYPE_FREE(newtype, ierr)
! Displacements may be negative.
      lengths(1) = 1
      lengths(2) = 2
      at(1) = 8
      at(2) = -4
      call MPI_TYPE_HINDEXED(2, lengths, at, MPI_INTEGER, newtype,
     &  ierr)
      call bounds(newtype, -4, 12, 4)
      call MPI_TYPE_FREE(newtype, ierr)
      at(2) = 20
      call MPI_TYPE_HINDEXED(2, lengths, at, MPI_INTEGER, newtype,
     &  ierr)
      call exchange(newtype, sent, received)
      call check(received(3) .eq. 3 .and. received(7) .eq. 7, 5)
      call check(received(1) .eq. 0 .and. received(8) .eq. 0, 6)
      call MPI_TYPE_FREE(newtype, ierr)
! With bounds beyond the data.
      lengths(2) = 1
      lengths(3) = 1
      at(1) = -8
      at(2) = 0
      at(3) = 24
      types(1) = MPI_LB
      types(2) = MPI_INTEGER
      types(3) = MPI_UB
      call MPI_TYPE_STRUCT(3, lengths, at, types, pair, ierr)
      call check(ierr .eq. MPI_SUCCESS, 7)
      call bounds(pair, -8, 24, 8)
      call MPI_TYPE_FREE(pair, ierr)
! More than 32 members have their places elsewhere.
      call many()
! What is too large is refused, by the handler, and nothing is written.
      call MPI_ERRHANDLER_CREATE(handler, errhandler, ierr)
      call check(ierr .eq. MPI_SUCCESS, 9)
      call MPI_ERRHANDLER_SET(MPI_COMM_SELF, errhandler, ierr)
      call check(ierr .eq. MPI_SUCCESS, 10)
      call MPI_ERRHANDLER_GET(MPI_COMM_SELF, again, ierr)
      call check(again .eq. errhandler, 11)
      call MPI_ERRHANDLER_FREE(again, ierr)
      wide = 3000000000_MPI_ADDRESS_KIND
      call MPI_TYPE_CREATE_RESIZED(MPI_INTEGER,
     &  0_MPI_ADDRESS_KIND, wide, newtype, ierr)
      handled = 0
      large = -7
      call MPI_TYPE_EXTENT(newtype, large, ierr)
      call MPI_ERROR_CLASS(ierr, n, i)
      call check(n .eq. MPI_ERR_ARG .and. large .eq. -7, 12)
      call check(handled .eq. 1, 13)
      call MPI_TYPE_LB(newtype, large, ierr)
      call check(ierr .eq. MPI_SUCCESS .and. large .eq. 0, 14)
      call MPI_TYPE_FREE(newtype, ierr)
! An address comes whole or not at all.
      call MPI_GET_ADDRESS(sent(1), wide, ierr)
      large = -7
      call MPI_ADDRESS(sent(1), large, ierr)
      if (wide .le. huge(large)) then
        call check(ierr .eq. MPI_SUCCESS .and. large .eq. wide, 15)
      else
        call check(ierr .ne. MPI_SUCCESS .and. large .eq. -7, 16)
        call check(handled .eq. 2, 17)
      end if
      call MPI_ADDRESS(MPI_BOTTOM, large, ierr)
      call check(ierr .eq. MPI_SUCCESS .and. large .eq. 0, 18)
      call MPI_ERRHANDLER_SET(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL,
     &  ierr)
      call MPI_ERRHANDLER_FREE(errhandler, ierr)
      call MPI_FINALIZE(ierr)
      end program

      subroutine handler(comm, code)
      integer comm, code, handled
      common /seen/ handled
      handled = handled + 1
      end subroutine

      subroutine many()
      implicit none
      include 'mpif.h'
      integer lengths(40), at(40), types(40), newtype, i, ierr
      do i = 1, 40
        lengths(i) = 1
        at(i) = 8 * i - 100
        types(i) = MPI_INTEGER
      end do
      call MPI_TYPE_STRUCT(40, lengths, at, types, newtype, ierr)
      call bounds(newtype, -92, 224, 19)
      call MPI_TYPE_FREE(newtype, ierr)
      end subroutine

      subroutine bounds(datatype, want_lb, want_ub, place)
      implicit none
      include 'mpif.h'
      integer datatype, want_lb, want_ub, place, lb, ub, extent, ierr
      call MPI_TYPE_LB(datatype, lb, ierr)
      call MPI_TYPE_UB(datatype, ub, ierr)
      call MPI_TYPE_EXTENT(datatype, extent, ierr)
      call check(lb .eq. want_lb .and. ub .eq. want_ub, place)
      call check(extent .eq. ub - lb, place)
      end subroutine

      subroutine exchange(datatype, sent, received)
      implicit none
      include 'mpif.h'
      integer datatype, sent(12), received(12), ierr, i
      do i = 1, 12
        received(i) = 0
      end do
      call MPI_TYPE_COMMIT(datatype, ierr)
      call MPI_SENDRECV(sent, 1, datatype, 0, 5, received, 1,
     &  datatype, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierr)
      call check(ierr .eq. MPI_SUCCESS, 20)
      end subroutine

      subroutine check(right, place)
      implicit none
      logical right
      integer place
      if (.not. right) then
        print *, 'check', place, 'failed'
        call exit(1)
      end if
      end subroutine
