! ranks: 1 2 4
! Module mpi_f08: handles with types, optional errors, sections with gaps, large counts, statuses between their forms.
module procedures
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: copies = 0, errors = 0

contains

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    if (oldcomm == MPI_COMM_WORLD) copies = copies + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine difference(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    if (datatype /= MPI_INTEGER) stop 1
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = in + 2 * inout
  end subroutine difference

  subroutine handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm == MPI_COMM_WORLD .and. error_code /= 0) errors = errors + 1
  end subroutine handler
end module procedures

program main
  use procedures
  implicit none
  integer :: rank, size, next, prev, i, j, n, ierr, old(MPI_STATUS_SIZE), keyval
  type(MPI_Status) :: status
  type(MPI_Request) :: request, requests(2)
  type(MPI_Comm) :: comm
  type(MPI_Op) :: op
  type(MPI_Datatype) :: absolute
  type(MPI_Errhandler) :: errhandler
  integer(kind=MPI_COUNT_KIND) :: large
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  real :: a(6, 8, 3), b(6, 8, 3), c(48), whole(6, 8, 3)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call check(ierr == MPI_SUCCESS .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 1)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  whole = reshape([(real(i), i = 1, 144)], [6, 8, 3])

  ! A section with gaps in every dimension goes out, and comes into another one.
  a = whole + 1000 * rank
  b = 0
  call MPI_Irecv(b(2:6:2, 8:1:-2, 1:3:2), 24, MPI_REAL, prev, 5, MPI_COMM_WORLD, request)
  call MPI_Send(a(1:5:2, 2:8:2, 2:3), 24, MPI_REAL, next, 5, MPI_COMM_WORLD)
  call MPI_Wait(request, status)
  call check(status%MPI_SOURCE == prev .and. status%MPI_TAG == 5, 2)
  call MPI_Get_count(status, MPI_REAL, n)
  call check(n == 24, 3)
  call check(all(b(2:6:2, 8:1:-2, 1:3:2) == whole(1:5:2, 2:8:2, 2:3) + 1000 * prev), 4)
  call check(sum(b) == sum(whole(1:5:2, 2:8:2, 2:3) + 1000 * prev), 5)
  ! Only a part of the section.
  c = -1
  call MPI_Sendrecv(a(1:5:2, 2:8:2, 2:3), 17, MPI_REAL, rank, 6, c(1:48:2), 17, MPI_REAL, rank, 6, MPI_COMM_WORLD, &
    MPI_STATUS_IGNORE)
  n = 0
  do j = 2, 3
    do i = 2, 8, 2
      block
        integer :: k
        do k = 1, 5, 2
          n = n + 1
          if (n <= 17) call check(c(2 * n - 1) == a(k, i, j), 6)
        end do
      end block
    end do
  end do
  call check(count(c >= 0) == 17 .and. all(c(35:) == -1), 7)
  ! Beside a section with gaps: an element that stands for an array, and MPI_BOTTOM.
  c = -1
  call MPI_Sendrecv(a(1:5:2, 2, 1), 3, MPI_REAL, rank, 6, c(4), 3, MPI_REAL, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call check(all(c(4:6) == a(1:5:2, 2, 1)) .and. count(c /= -1) == 3, 24)
  call MPI_Get_address(c(10), value)
  call MPI_Type_create_hindexed(1, [3], [value], MPI_REAL, absolute)
  call MPI_Type_commit(absolute)
  call MPI_Sendrecv(a(1:5:2, 2, 1), 3, MPI_REAL, rank, 6, MPI_BOTTOM, 1, absolute, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_F_sync_reg(c)
  call check(all(c(10:12) == a(1:5:2, 2, 1)) .and. count(c /= -1) == 6, 25)
  call MPI_Type_free(absolute)
  ! More than the section has.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(a(1:5:2, 1, 1), 4, MPI_REAL, MPI_PROC_NULL, 5, MPI_COMM_WORLD, ierr)
  call check(ierr == MPI_ERR_COUNT, 8)
  ! Whole arrays, scalars and constants.
  n = rank
  call MPI_Bcast(n, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD)
  call check(n == size - 1, 9)
  call MPI_Bcast(b(:, 3, :), 18, MPI_REAL, 0, MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(n == size * (size - 1), 10)
  ! Reductions of sections.
  b = 0
  call MPI_Allreduce(a(1:5:2, 2, 1:2), b(2:6:2, 1, 2:3), 6, MPI_REAL, MPI_MAX, MPI_COMM_WORLD)
  call check(all(b(2:6:2, 1, 2:3) == whole(1:5:2, 2, 1:2) + 1000 * (size - 1)), 11)
  call check(count(b /= 0) == 6, 12)

  ! Large counts.
  large = 144
  call MPI_Sendrecv(a, large, MPI_REAL, rank, 7, b, large, MPI_REAL, rank, 7, MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_REAL, large)
  call check(large == 144 .and. all(a == b), 13)
  call MPI_Isend(a(::2, ::2, 1), 12_MPI_COUNT_KIND, MPI_REAL, rank, 8, MPI_COMM_WORLD, requests(1))
  call MPI_Irecv(b(::3, ::2, 1:3:2), 12, MPI_REAL, rank, 8, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(requests(1:2)%MPI_VAL == MPI_REQUEST_NULL%MPI_VAL), 14)
  call check(b(1, 1, 1) == a(1, 1, 1) .and. b(4, 7, 3) == 0 + b(4, 7, 3) .and. b(4, 1, 1) == a(3, 1, 1), 15)

  ! Statuses.
  call MPI_Status_f082f(status, old)
  call check(old(MPI_SOURCE) == status%MPI_SOURCE .and. old(MPI_TAG) == 7, 16)
  old(MPI_TAG) = 70
  call MPI_Status_f2f08(old, status)
  call check(status%MPI_TAG == 70, 17)

  ! Procedures of the program.
  call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, keyval, 5_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 37_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call check(comm /= MPI_COMM_WORLD .and. copies == 1, 18)
  call MPI_Comm_get_attr(comm, keyval, value, flag)
  call check(flag .and. value == 42, 19)
  call MPI_Comm_free(comm)
  call check(comm == MPI_COMM_NULL, 20)
  call MPI_Op_create(difference, .false., op)
  n = 1
  call MPI_Allreduce(MPI_IN_PLACE, n, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(n == 2**size - 1, 21)
  call MPI_Op_free(op)
  call MPI_Comm_create_errhandler(handler, errhandler)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler)
  call MPI_Send(n, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
  call check(errors == 1 .and. ierr /= MPI_SUCCESS, 22)
  call PMPI_Barrier(MPI_COMM_WORLD)
  call check(MPI_Wtime() > 0, 23)
  call windows()
  call MPI_Finalize()

contains

  subroutine windows()
    type(MPI_Win) :: win
    type(c_ptr) :: place, detached
    integer, pointer :: memory(:)
    integer :: got(4), bytes
    integer, target :: attached(2000)
    call MPI_Win_allocate(400_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, win)
    call c_f_pointer(place, memory, [100])
    memory = rank + [(i, i = 1, 100)]
    call MPI_Win_fence(0, win)
    call MPI_Get(got(1:4:2), 2, MPI_INTEGER, next, 10_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(got(1:4:2) == next + [11, 12]), 30)
    call MPI_Win_free(win)
    call MPI_Buffer_attach(attached, 8000)
    call MPI_Buffer_detach(detached, bytes)
    ! As numbers: the compiler takes for granted that an argument without TARGET does not come back as a pointer.
    call check(bytes == 8000 .and. transfer(detached, 1_8) == transfer(c_loc(attached), 1_8), 31)
  end subroutine windows

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed'
    stop 1
  end subroutine check
end program main
