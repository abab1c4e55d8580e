! ranks: 1 2 4
! Point-to-point through mpif.h, in fixed source form: a ring, requests, statuses, constants that stand for an address.
      program main
      implicit none
      include 'mpif.h'
      integer ierr, rank, size, next, prev, i, n, found
      integer status(MPI_STATUS_SIZE), requests(2)
      integer statuses(MPI_STATUS_SIZE, 2), indices(2)
      double precision sent(100), received(100)
      logical flag
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      next = mod(rank + 1, size)
      prev = mod(rank + size - 1, size)
      do i = 1, 100
        sent(i) = rank * 1000 + i
      end do
      call MPI_SENDRECV(sent, 100, MPI_DOUBLE_PRECISION, next, 7,
     &  received, 100, MPI_DOUBLE_PRECISION, prev, 7,
     &  MPI_COMM_WORLD, status, ierr)
      call check(ierr .eq. MPI_SUCCESS, 1)
      call check(status(MPI_SOURCE) .eq. prev, 2)
      call check(status(MPI_TAG) .eq. 7, 3)
      call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, n, ierr)
      call check(n .eq. 100, 4)
      call check(received(100) .eq. prev * 1000 + 100, 5)
      call MPI_IRECV(received, 100, MPI_DOUBLE_PRECISION, prev, 8,
     &  MPI_COMM_WORLD, requests(1), ierr)
      call MPI_ISEND(sent, 50, MPI_DOUBLE_PRECISION, next, 8,
     &  MPI_COMM_WORLD, requests(2), ierr)
      call MPI_WAITALL(2, requests, statuses, ierr)
      call check(statuses(MPI_TAG, 1) .eq. 8, 6)
      call check(requests(1) .eq. MPI_REQUEST_NULL, 7)
      call MPI_GET_COUNT(statuses(1, 1), MPI_DOUBLE_PRECISION, n, ierr)
      call check(n .eq. 50, 8)
! Indices count from one.
      requests(1) = MPI_REQUEST_NULL
      call MPI_IRECV(received, 1, MPI_DOUBLE_PRECISION, prev, 9,
     &  MPI_COMM_WORLD, requests(2), ierr)
      call MPI_SEND(sent, 1, MPI_DOUBLE_PRECISION, next, 9,
     &  MPI_COMM_WORLD, ierr)
      call MPI_WAITANY(2, requests, i, MPI_STATUS_IGNORE, ierr)
      call check(i .eq. 2, 9)
      call MPI_WAITANY(2, requests, i, MPI_STATUS_IGNORE, ierr)
      call check(i .eq. MPI_UNDEFINED, 10)
      call MPI_IRECV(received, 1, MPI_DOUBLE_PRECISION, prev, 9,
     &  MPI_COMM_WORLD, requests(2), ierr)
      call MPI_SEND(sent, 1, MPI_DOUBLE_PRECISION, next, 9,
     &  MPI_COMM_WORLD, ierr)
      call MPI_WAITSOME(2, requests, found, indices,
     &  MPI_STATUSES_IGNORE, ierr)
      call check(found .eq. 1 .and. indices(1) .eq. 2, 11)
      call MPI_IPROBE(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
     &  flag, MPI_STATUS_IGNORE, ierr)
      call check(.not. flag, 12)
      n = rank
      call MPI_ALLREDUCE(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_SUM,
     &  MPI_COMM_WORLD, ierr)
      call check(n .eq. size * (size - 1) / 2, 13)
      call PMPI_BARRIER(MPI_COMM_WORLD, ierr)
      call check(MPI_WTIME() .gt. 0 .and. PMPI_WTICK() .gt. 0, 14)
      call MPI_FINALIZE(ierr)
      end

      subroutine check(right, number)
      logical right
      integer number
      if (.not. right) then
        print *, 'check', number, 'failed'
        stop 1
      end if
      end
