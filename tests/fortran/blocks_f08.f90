! ranks: 1 2 4
! Sections with gaps that have the data of several processes, and sections that are significant at some processes alone.
program main
  use mpi_f08
  implicit none
  integer, parameter :: most = 3000
  integer :: rank, size, per, turn, i
  integer, asynchronous :: x(3 * most), y(3 * most), z(2, most)
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  ! Short sections and long ones; a shape that comes again is known by then.
  do turn = 1, 6
    per = merge(2, most / size, mod(turn, 2) == 1)
    call gathered()
    call scattered()
    call exchanged()
    call reduced()
  end do
  call neighbors()
  call insignificant()
  if (size == 2) call between_groups()
  call no_operation()
  call MPI_Finalize()

contains

  subroutine gathered()
    integer :: last
    last = 3 * per * size
    call fill()
    call MPI_Allgather(x(1:3*per:3), per, MPI_INTEGER, y(1:last:3), per, MPI_INTEGER, MPI_COMM_WORLD)
    call from_all(y(1:last:3), 1)
    call fill()
    call MPI_Gather(x(1:3*per:3), per, MPI_INTEGER, y(1:last:3), per, MPI_INTEGER, size - 1, MPI_COMM_WORLD)
    if (rank == size - 1) call from_all(y(1:last:3), 2)
    call fill()
    call MPI_Iallgather(x(1:3*per:3), per, MPI_INTEGER, z(2, 1:per*size), per, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call from_all(z(2, 1:per*size), 3)
    call check(all(z(1, :) == -1), 4)
    call fill()
    y(1+3*per*rank:3*per*(rank+1):3) = x(1:3*per:3)
    call MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, y(1:last:3), per, MPI_INTEGER, MPI_COMM_WORLD)
    call from_all(y(1:last:3), 5)
  end subroutine gathered

  ! The items 1, 4, 7 and so on of each process.
  subroutine from_all(part, number)
    integer, intent(in) :: part(:), number
    integer :: r
    do r = 0, size - 1
      call check(all(part(r*per+1:(r+1)*per) == [(100000 * r + i, i = 1, 3 * per, 3)]), number)
    end do
    call check(count(y /= -1) + count(z /= -1) == per * size, number)
  end subroutine from_all

  subroutine scattered()
    call fill()
    call MPI_Scatter(x(1:3*per*size:3), per, MPI_INTEGER, y(2:2*per:2), per, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(y(2:2*per:2) == [(1 + 3 * (per * rank + i), i = 0, per - 1)]), 10)
    call check(count(y /= -1) == per, 11)
  end subroutine scattered

  subroutine exchanged()
    integer :: r
    call fill()
    call MPI_Alltoall(x(1:3*per*size:3), per, MPI_INTEGER, y(2:2*per*size:2), per, MPI_INTEGER, MPI_COMM_WORLD)
    do r = 0, size - 1
      call check(all(y(2+2*per*r:2*per*(r+1):2) == [(100000 * r + 1 + 3 * (per * rank + i), i = 0, per - 1)]), 20)
    end do
    call check(count(y /= -1) == per * size, 21)
  end subroutine exchanged

  subroutine reduced()
    integer :: counts(size), sum_of_ranks
    sum_of_ranks = 100000 * (size * (size - 1) / 2)
    counts = per
    call fill()
    call MPI_Reduce_scatter(x(1:3*per*size:3), y(2:2*per:2), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(y(2:2*per:2) == [(sum_of_ranks + size * (1 + 3 * (per * rank + i)), i = 0, per - 1)]), 30)
    call fill()
    call MPI_Reduce_scatter_block(x(1:3*per*size:3), y(2:2*per:2), per, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(y(2:2*per:2) == [(sum_of_ranks + size * (1 + 3 * (per * rank + i)), i = 0, per - 1)]), 31)
    y(1:3*per*size:3) = x(1:3*per*size:3)
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, y(1:3*per*size:3), per, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(y(1:3*per:3) == [(sum_of_ranks + size * (1 + 3 * (per * rank + i)), i = 0, per - 1)]), 32)
  end subroutine reduced

  ! On a ring each process has two neighbors.
  subroutine neighbors()
    type(MPI_Comm) :: ring
    integer :: before, after
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring)
    before = mod(rank + size - 1, size)
    after = mod(rank + 1, size)
    do i = 1, 3
      call fill()
      call MPI_Neighbor_allgather(x(1:6:3), 2, MPI_INTEGER, y(1:12:3), 2, MPI_INTEGER, ring)
      call check(all(y(1:12:3) == 100000 * [before, before, after, after] + [1, 4, 1, 4]), 40)
    end do
    call MPI_Comm_free(ring)
  end subroutine neighbors

  ! What is passed beside the root would be wrong if it were looked at.
  subroutine insignificant()
    type(MPI_Datatype) :: none
    integer, pointer :: nothing(:)
    nothing => null()
    none%MPI_VAL = 0
    per = 2
    do turn = 1, 2
      call fill()
      if (rank == 0) then
        call MPI_Gather(x(1:6:3), 2, MPI_INTEGER, y(1:6*size:3), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
        call from_all(y(1:6*size:3), 50)
        call MPI_Igather(x(1:6:3), 2, MPI_INTEGER, y(1:6*size:3), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Scatter(x(1:6*size:3), 2, MPI_INTEGER, y(2:4:2), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
        call MPI_Reduce(x(1:30:3), y(1:30:3), 10, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD)
        call check(all(y(1:30:3) == 100000 * (size - 1) + [(i, i = 1, 30, 3)]), 51)
      else
        call MPI_Gather(x(1:6:3), 2, MPI_INTEGER, y(1:5:3), 500, MPI_INTEGER, 0, MPI_COMM_WORLD)
        call MPI_Igather(x(1:6:3), 2, MPI_INTEGER, y(1:5:3), -2, none, 0, MPI_COMM_WORLD, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Scatter(x(1:4:3), 99, none, y(2:4:2), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
        call check(all(y(2:4:2) == [1 + 6 * rank, 4 + 6 * rank]), 52)
        call MPI_Reduce(x(1:30:3), y(1:4:3), 10, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD)
      end if
      if (rank == 0) then
        call MPI_Gather(x(1:6:3), 2, MPI_INTEGER, y(1:6*size:3), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
      else
        call MPI_Gather(x(1:6:3), 2, MPI_INTEGER, nothing, 1000, none, 0, MPI_COMM_WORLD)
      end if
    end do
  end subroutine insignificant

  subroutine between_groups()
    type(MPI_Comm) :: alone, both
    call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, alone)
    call MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, 1 - rank, 5, both)
    call fill()
    if (rank == 0) then
      call MPI_Gather(x(1:4:3), 500, MPI_INTEGER, y(1:9:3), 3, MPI_INTEGER, MPI_ROOT, both)
      call check(all(y(1:9:3) == 100000 + [1, 4, 7]), 60)
    else
      call MPI_Gather(x(1:9:3), 3, MPI_INTEGER, y(1:9:4), 500, MPI_INTEGER, 0, both)
      call check(all(y == -1), 61)
    end if
    call MPI_Comm_free(both)
    call MPI_Comm_free(alone)
  end subroutine between_groups

  ! MPI_NO_OP takes nothing from the origin.
  subroutine no_operation()
    type(MPI_Win) :: win
    type(MPI_Datatype) :: none
    none%MPI_VAL = 0
    call fill()
    call MPI_Win_create(x, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Get_accumulate(z(1, 1:2), 77, none, y(1:7:3), 3, MPI_INTEGER, rank, 2_MPI_ADDRESS_KIND, 3, MPI_INTEGER, MPI_NO_OP, win)
    call MPI_Win_fence(0, win)
    call check(all(y(1:7:3) == 100000 * rank + [3, 4, 5]), 70)
    call MPI_Win_free(win)
  end subroutine no_operation

  subroutine fill()
    x = [(100000 * rank + i, i = 1, 3 * most)]
    y = -1
    z = -1
  end subroutine fill

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed on rank', rank, 'in turn', turn
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check
end program main
