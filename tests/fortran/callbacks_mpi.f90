! ranks: 1 2 4
! Procedures of the program that MPI calls, through module mpi: attributes, operations, error handlers, generalized requests.
module procedures
  use mpi
  implicit none
  integer :: copies = 0, deletions = 0, errors = 0, queries = 0, frees = 0, cancels = 0
  integer(kind=MPI_ADDRESS_KIND) :: seen = 0

contains

  subroutine copy(comm, keyval, extra, old, new, flag, ierror)
    integer :: comm, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, old, new
    logical :: flag
    copies = copies + 1
    seen = extra
    new = old + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine delete(comm, keyval, value, extra, ierror)
    integer :: comm, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deletions = deletions + 1
    seen = value
    ierror = MPI_SUCCESS
  end subroutine delete

  subroutine old_copy(comm, keyval, extra, old, new, flag, ierror)
    integer :: comm, keyval, extra, old, new, ierror
    logical :: flag
    new = old * extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine old_copy

  subroutine difference(in, inout, length, datatype)
    integer :: length, datatype
    integer :: in(length), inout(length)
    if (datatype /= MPI_INTEGER) stop 1
    inout = in - inout
  end subroutine difference

  subroutine handler(comm, code)
    integer :: comm, code
    integer :: class, ierror
    call MPI_Error_class(code, class, ierror)
    if (class == MPI_ERR_RANK .and. comm == MPI_COMM_WORLD) errors = errors + 1
  end subroutine handler

  subroutine query(extra, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror
    queries = queries + 1
    status(MPI_SOURCE) = int(extra)
    status(MPI_TAG) = 3
    call MPI_Status_set_elements(status, MPI_INTEGER, 5, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
  end subroutine query

  subroutine done(extra, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    if (extra == 41) frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine done

  subroutine cancel(extra, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    if (.not. complete) cancels = cancels + 1
    ierror = MPI_SUCCESS
  end subroutine cancel
end module procedures

program main
  use procedures
  implicit none
  integer :: ierr, rank, size, keyval, comm, op, handle, request, n, m, status(MPI_STATUS_SIZE), i
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)

  call MPI_Comm_create_keyval(copy, delete, keyval, 17_MPI_ADDRESS_KIND, ierr)
  value = 2_8**40
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call check(copies == 1 .and. seen == 17, 1)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierr)
  call check(flag .and. value == 2_8**40 + 1, 2)
  call MPI_Comm_free(comm, ierr)
  call check(deletions == 1 .and. seen == 2_8**40 + 1, 3)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierr)
  call check(deletions == 2 .and. seen == 2_8**40, 4)
  call MPI_Comm_free_keyval(keyval, ierr)
  call check(keyval == MPI_KEYVAL_INVALID, 5)

  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierr)
  do i = 1, 1000
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, int(-i, MPI_ADDRESS_KIND), ierr)
  end do
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierr)
  call check(flag .and. value == -1000, 6)
  call MPI_Comm_free(comm, ierr)

  call MPI_Keyval_create(old_copy, MPI_NULL_DELETE_FN, keyval, 3, ierr)
  call MPI_Attr_put(MPI_COMM_WORLD, keyval, -7, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Attr_get(comm, keyval, n, flag, ierr)
  call check(flag .and. n == -21, 7)
  call MPI_Comm_free(comm, ierr)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, n, flag, ierr)
  call check(flag .and. n >= 32767, 8)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call check(flag .and. value == n, 9)

  call MPI_Op_create(difference, .false., op, ierr)
  n = 10 + rank
  call MPI_Reduce(n, m, 1, MPI_INTEGER, op, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) call check(m == alternating(), 10)
  call MPI_Op_free(op, ierr)
  call check(op == MPI_OP_NULL, 11)

  call MPI_Comm_create_errhandler(handler, handle, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handle, ierr)
  call MPI_Errhandler_free(handle, ierr)
  call MPI_Send(n, 1, MPI_INTEGER, size + 5, 0, MPI_COMM_WORLD, ierr)
  call check(ierr /= MPI_SUCCESS .and. errors == 1, 12)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(n, 1, MPI_INTEGER, size + 5, 0, MPI_COMM_WORLD, ierr)
  call check(ierr /= MPI_SUCCESS .and. errors == 1, 13)

  call MPI_Grequest_start(query, done, cancel, 41_MPI_ADDRESS_KIND, request, ierr)
  call MPI_Cancel(request, ierr)
  call check(cancels == 1, 14)
  call MPI_Grequest_complete(request, ierr)
  call MPI_Wait(request, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, n, ierr)
  call check(queries == 1 .and. frees == 1 .and. n == 5 .and. status(MPI_SOURCE) == 41 .and. status(MPI_TAG) == 3, 15)
  call MPI_Finalize(ierr)

contains

  integer function alternating()
    integer :: i
    alternating = 10 + size - 1
    do i = size - 2, 0, -1
      alternating = 10 + i - alternating
    end do
  end function alternating

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed'
    stop 1
  end subroutine check
end program main
