! ranks: 1 2
! Further jobs through module mpi: arguments are arrays of texts that blanks fill, the last one blank.
program main
  use mpi
  implicit none
  integer :: ierr, rank, parent, inter, codes(3), there, got, n, info, class
  character(len=1024) :: command, commands(2), text
  character(len=12) :: words(4), both(2, 3)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_get_parent(parent, ierr)
  call get_command_argument(0, command)
  if (parent /= MPI_COMM_NULL) then
    call child()
    call MPI_Finalize(ierr)
    stop
  end if

  words = [character(len=12) :: 'a word', ' lead', 'exactly12chr', ' ']
  codes = -1
  call MPI_Comm_spawn(command, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, ierr)
  call check(ierr == MPI_SUCCESS .and. all(codes(1:2) == MPI_SUCCESS) .and. codes(3) == -1, 1)
  call MPI_Comm_remote_size(inter, there, ierr)
  call check(there == 2, 2)
  ! Three arguments with 6, 4 and 12 characters: blanks at both ends go.
  call heard(60412, 3)

  call MPI_Comm_spawn('  ' // trim(command), MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, ierr)
  call heard(0, 4)

  ! A row each.
  both(1, :) = [character(len=12) :: 'one', ' ', ' ']
  both(2, :) = [character(len=12) :: ' two', 'three', ' ']
  commands = command
  call MPI_Comm_spawn_multiple(2, commands, both, [1, 2], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, inter, codes, ierr)
  call check(ierr == MPI_SUCCESS .and. all(codes == MPI_SUCCESS), 5)
  call heard(3, 6)

  call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, inter, &
    MPI_ERRCODES_IGNORE, ierr)
  call heard(0, 7)

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'soft', '1:2', ierr)
  call MPI_Comm_spawn(command, MPI_ARGV_NULL, 3, info, 0, MPI_COMM_WORLD, inter, codes, ierr)
  call MPI_Error_class(codes(3), class, ierr)
  call check(all(codes(1:2) == MPI_SUCCESS) .and. class == MPI_ERR_SPAWN, 8)
  call heard(0, 9)
  call MPI_Info_free(info, ierr)
  call MPI_Finalize(ierr)

contains

  ! Child 0 tells the lengths of its arguments.
  subroutine child()
    integer :: i, length, told, here
    told = 0
    do i = 1, command_argument_count()
      call get_command_argument(i, text, length)
      told = told * 100 + length
    end do
    call MPI_Comm_rank(MPI_COMM_WORLD, here, ierr)
    if (here == 0) call MPI_Send(told, 1, MPI_INTEGER, 0, 1, parent, ierr)
    call MPI_Comm_disconnect(parent, ierr)
  end subroutine child

  subroutine heard(want, number)
    integer, intent(in) :: want, number
    if (rank == 0) then
      call MPI_Recv(got, 1, MPI_INTEGER, 0, 1, inter, MPI_STATUS_IGNORE, ierr)
      call check(got == want, number)
    end if
    call MPI_Comm_disconnect(inter, ierr)
    call check(inter == MPI_COMM_NULL, number)
  end subroutine heard

  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    if (.not. good) then
      print *, 'check', number, 'failed on rank', rank
      call MPI_Abort(MPI_COMM_WORLD, 1, n)
    end if
  end subroutine check
end program main
