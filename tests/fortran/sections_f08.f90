! ranks: 1 2 4
! Sections with gaps in operations that go on: reductions, counts in arrays, persistent and partitioned ones, large datatypes.
program main
  use mpi_f08
  implicit none
  integer, parameter :: n = 6
  integer :: rank, size, next, prev, i, ierr
  integer, asynchronous :: a(n, 4, 16), b(n, 4, 16)
  integer, allocatable, asynchronous :: counts(:), displs(:)
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 1)
  allocate (counts(size), displs(size))
  counts = 3
  displs = [(3 * i, i = size - 1, 0, -1)]
  call reductions()
  call counted()
  call typed()
  call persistent()
  call many()
  call partitioned()
  call large_types()
  call MPI_Finalize()

contains

  subroutine reductions()
    integer :: k
    logical :: flag
    call fill()
    call MPI_Iallreduce(a(1:n:2, 2, 1:4), b(2:n:2, 1, 2:8:2), 12, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(b(2:n:2, 1, 2:8:2) == summed(a(1:n:2, 2, 1:4))), 10)
    call check(count(b /= -1) == 12, 11)
    call fill()
    b(2:n:2, 3, 1) = a(1:n:2, 2, 1)
    call MPI_Ireduce(MPI_IN_PLACE, b(2:n:2, 3, 1), 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_SELF, request)
    ! A look ends nothing, but what is there can be read.
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE)
    end do
    call check(all(b(2:n:2, 3, 1) == a(1:n:2, 2, 1)), 12)
    b(2:n:2, 3, 1) = 7
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(b(2:n:2, 3, 1) == 7), 13)
    call fill()
    call MPI_Iscan(a(1:n:2, 1, 1), b(1:n:2, 1, 1), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, MPI_STATUS_IGNORE)
    end do
    call check(request == MPI_REQUEST_NULL, 14)
    call check(all(b(1:n:2, 1, 1) == [(sum([(cell(k, 1, 1, i), i = 0, rank)]), k = 1, n, 2)]), 15)
    call check(count(b /= -1) == 3, 16)
  end subroutine reductions

  subroutine counted()
    integer :: r, k
    integer(kind=MPI_COUNT_KIND), asynchronous :: large_counts(size)
    integer(kind=MPI_ADDRESS_KIND), asynchronous :: large_displs(size)
    call fill()
    call MPI_Iallgatherv(a(2:n:2, 2, 2), 3, MPI_INTEGER, b(2:n:2, 1, 1:size), counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    do r = 0, size - 1
      call check(all(b(2:n:2, 1, size - r) == [(cell(k, 2, 2, r), k = 2, n, 2)]), 20)
    end do
    call check(count(b /= -1) == 3 * size, 21)
    call fill()
    large_counts = counts
    large_displs = displs
    call MPI_Ialltoallv(a(1:n:2, 1, 1:size), large_counts, large_displs, MPI_INTEGER, b(1:n:2, 4, 2:2*size:2), large_counts, &
      large_displs, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    do r = 0, size - 1
      call check(all(b(1:n:2, 4, 2 * (size - r)) == [(cell(k, 1, size - rank, r), k = 1, n, 2)]), 22)
    end do
    call check(count(b /= -1) == 3 * size, 23)
  end subroutine counted

  ! Datatypes in an array, and displacements in bytes.
  subroutine typed()
    integer :: r, k
    type(MPI_Datatype), asynchronous :: types(size)
    integer, asynchronous :: bytes(size)
    types = MPI_INTEGER
    bytes = 4 * displs
    call fill()
    call MPI_Ialltoallw(a(1:n:2, 1, 1:size), counts, bytes, types, b(1:n:2, 2, 1:size), counts, bytes, types, MPI_COMM_WORLD, &
      request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    do r = 0, size - 1
      call check(all(b(1:n:2, 2, size - r) == [(cell(k, 1, size - rank, r), k = 1, n, 2)]), 30)
    end do
  end subroutine typed

  subroutine persistent()
    integer :: turn
    type(MPI_Request) :: requests(2)
    call fill()
    call MPI_Allreduce_init(a(1:n:2, 1, 1), b(2:n:2, 1, 1), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Reduce_init(a(2:n:2, 1, 1), b(1:n:2, 1, 1), 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_SELF, MPI_INFO_NULL, requests(2))
    do turn = 1, 3
      a(1:n:2, 1, 1) = [1, 2, 3] * turn + rank
      a(2:n:2, 1, 1) = turn
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(all(b(2:n:2, 1, 1) == [1, 2, 3] * turn * size + size * (size - 1) / 2), 40)
      call check(all(b(1:n:2, 1, 1) == turn), 41)
      ! An inactive request leaves the section alone.
      b(2:n:2, 1, 1) = -5
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      call check(all(b(2:n:2, 1, 1) == -5), 42)
    end do
    call check(requests(1) /= MPI_REQUEST_NULL, 43)
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call check(requests(1) == MPI_REQUEST_NULL, 44)
  end subroutine persistent

  ! Several at once, ended one by one.
  subroutine many()
    integer :: k, index, seen, outcount, indices(8)
    type(MPI_Request) :: requests(8)
    call fill()
    do k = 1, 8
      call MPI_Iallreduce(a(1:n:2, 1, k), b(2:n:2, 3, k), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(k))
    end do
    do seen = 1, 4
      call MPI_Waitany(8, requests, index, MPI_STATUS_IGNORE)
      call check(all(b(2:n:2, 3, index) == reshape(summed(reshape(a(1:n:2, 1, index), [3, 1])), [3])), 50)
    end do
    seen = 4
    do while (seen < 8)
      call MPI_Waitsome(8, requests, outcount, indices, MPI_STATUSES_IGNORE)
      do k = 1, outcount
        call check(b(2, 3, indices(k)) /= -1, 51)
      end do
      seen = seen + outcount
    end do
    call check(seen == 8 .and. count(b /= -1) == 24, 52)
    call check(all([(requests(k) == MPI_REQUEST_NULL, k = 1, 8)]), 53)
  end subroutine many

  subroutine partitioned()
    type(MPI_Request) :: requests(2)
    integer :: turn
    logical :: flag
    call fill()
    call MPI_Psend_init(a(1:n:2, 1, 1:4), 4, 3_MPI_COUNT_KIND, MPI_INTEGER, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(b(2:n:2, 1, 1:8:2), 4, 3_MPI_COUNT_KIND, MPI_INTEGER, prev, 9, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    do turn = 1, 2
      call MPI_Startall(2, requests)
      a(1:n:2, 1, 1:4) = a(1:n:2, 1, 1:4) + turn
      call MPI_Pready(2, requests(1))
      call MPI_Pready_range(0, 1, requests(1))
      call MPI_Pready_list(1, [3], requests(1))
      flag = .false.
      do while (.not. flag)
        call MPI_Parrived(requests(2), 1, flag)
      end do
      call check(all(b(2:n:2, 1, 3) == [(cell(i, 1, 2, prev), i = 1, n, 2)] + turn * (turn + 1) / 2), 60)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      do i = 1, 4
        call check(b(4, 1, 2 * i - 1) == cell(3, 1, i, prev) + turn * (turn + 1) / 2, 61)
      end do
      call check(count(b /= -1) == 12, 62)
      call MPI_Barrier(MPI_COMM_WORLD)
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine partitioned

  ! A datatype of three elements of the section, with a gap of its own.
  subroutine large_types()
    type(MPI_Datatype) :: ends
    type(MPI_Request) :: requests(2)
    integer :: sent(2)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, ends)
    call MPI_Type_commit(ends)
    call fill()
    call MPI_Irecv(b(2:n:2, 2, 2), 1, ends, prev, 10, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(1:n:2, 1, 1), 1, ends, next, 10, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(b(2, 2, 2) == cell(1, 1, 1, prev) .and. b(4, 2, 2) == -1 .and. b(6, 2, 2) == cell(5, 1, 1, prev), 70)
    call check(count(b /= -1) == 2, 71)
    ! Nobody waits for this one.
    call MPI_Isend(a(1:n:2, 1, 1), 1, ends, next, 11, MPI_COMM_WORLD, requests(1))
    call MPI_Request_free(requests(1))
    call MPI_Recv(sent, 2, MPI_INTEGER, prev, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(sent == [cell(1, 1, 1, prev), cell(5, 1, 1, prev)]), 72)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Irecv(b(2:n:2, 2, 2), 2, ends, prev, 10, MPI_COMM_WORLD, requests(1), ierr)
    call check(ierr == MPI_ERR_COUNT, 73)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Type_free(ends)
  end subroutine large_types

  subroutine fill()
    integer :: j, k
    do k = 1, 16
      do j = 1, 4
        a(:, j, k) = [(cell(i, j, k, rank), i = 1, n)]
      end do
    end do
    b = -1
  end subroutine fill

  pure integer function cell(i, j, k, of)
    integer, intent(in) :: i, j, k, of
    cell = i + 10 * j + 100 * k + 10000 * of
  end function cell

  ! What all ranks have at a place of `part`, which is theirs but for the rank.
  pure function summed(part) result(total)
    integer, intent(in) :: part(:, :)
    integer :: total(ubound(part, 1), ubound(part, 2))
    total = size * (part - 10000 * rank) + 10000 * (size * (size - 1) / 2)
  end function summed

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed'
    stop 1
  end subroutine check
end program main
