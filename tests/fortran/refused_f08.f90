! ranks: 1 2
! Sections that are shorter than a call wants: the handler of its object is called, and nothing outside them is written.
module handlers
  use mpi_f08
  implicit none
  integer :: of_comm = 0, of_win = 0, of_file = 0
  type(MPI_Comm) :: own

contains

  subroutine comm_handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm == own .and. error_code == MPI_ERR_COUNT) of_comm = of_comm + 1
  end subroutine comm_handler

  subroutine win_handler(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    if (win /= MPI_WIN_NULL .and. error_code /= 0) of_win = of_win + 1
  end subroutine win_handler

  subroutine file_handler(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    if (file /= MPI_FILE_NULL .and. error_code == MPI_ERR_COUNT) of_file = of_file + 1
  end subroutine file_handler
end module handlers

program main
  use handlers
  implicit none
  integer :: x(8000), y(8000), rank, size, ierr, wanted = 0, position
  integer, allocatable :: counts(:), displs(:), bytes(:)
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Errhandler) :: errhandler
  type(MPI_Datatype) :: wide
  type(MPI_Request) :: request
  character(len=20) :: name

  ! The handler of MPI_COMM_SELF would end the program.
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Comm_dup(MPI_COMM_WORLD, own)
  call MPI_Comm_create_errhandler(comm_handler, errhandler)
  call MPI_Comm_set_errhandler(own, errhandler)
  call MPI_Errhandler_free(errhandler)
  allocate (counts(size), displs(size), bytes(size), types(size))
  x = 3
  y = -1
  counts = 3
  displs = 0
  bytes = 0
  types = MPI_INTEGER

  call MPI_Send(x(1:4:2), 3, MPI_INTEGER, rank, 0, own, ierr)
  call refused(MPI_ERR_COUNT, 1)
  call MPI_Send(x(1:8:2), -1, MPI_INTEGER, rank, 0, own, ierr)
  call refused(MPI_ERR_COUNT, 2)
  call MPI_Isend(x(1:4:2), 3, MPI_INTEGER, rank, 0, own, request, ierr)
  call refused(MPI_ERR_COUNT, 3)
  call MPI_Pack(x(1:10:2), 6, MPI_INTEGER, y, 40, position, own, ierr)
  call refused(MPI_ERR_COUNT, 4)
  ! Copies.
  call MPI_Allreduce(x(1:4), y(1:4:2), 4, MPI_INTEGER, MPI_SUM, own, ierr)
  call refused(MPI_ERR_COUNT, 10)
  call MPI_Allreduce(x(1:4:2), y(1:8:2), 4, MPI_INTEGER, MPI_SUM, own, ierr)
  call refused(MPI_ERR_COUNT, 11)
  call MPI_Allreduce(x, y(1:4:2), 8000, MPI_INTEGER, MPI_SUM, own, ierr)
  call refused(MPI_ERR_COUNT, 12)
  call MPI_Iallreduce(x(1:4), y(1:4:2), 4, MPI_INTEGER, MPI_SUM, own, request, ierr)
  call refused(MPI_ERR_COUNT, 13)
  call MPI_Allgatherv(x, 3, MPI_INTEGER, y(1:4:2), counts, displs, MPI_INTEGER, own, ierr)
  call refused(MPI_ERR_COUNT, 14)
  displs = 4
  call MPI_Allgatherv(x, 3, MPI_INTEGER, y(1:12:2), counts, displs, MPI_INTEGER, own, ierr)
  call refused(MPI_ERR_COUNT, 15)
  bytes = 16
  call MPI_Alltoallw(x, counts, displs, types, y(1:12:2), counts, bytes, types, own, ierr)
  call refused(MPI_ERR_COUNT, 16)
  call MPI_Allgather(x, 3, MPI_INTEGER, y(1:6*size-2:2), 3, MPI_INTEGER, own, ierr)
  call refused(MPI_ERR_COUNT, 17)
  call MPI_Reduce_scatter(x(1:6*size-2:2), y, counts, MPI_INTEGER, MPI_SUM, own, ierr)
  call refused(MPI_ERR_COUNT, 18)
  call MPI_Reduce_scatter_block(x, y(1:4:2), 3, MPI_INTEGER, MPI_SUM, own, ierr)
  call refused(MPI_ERR_COUNT, 19)
  call MPI_Psend_init(x(1:10:2), 2, 3_MPI_COUNT_KIND, MPI_INTEGER, rank, 0, own, MPI_INFO_NULL, request, ierr)
  call refused(MPI_ERR_COUNT, 20)
  call MPI_Bcast(y(1:4:2), 3, MPI_INTEGER, 0, own, ierr)
  call refused(MPI_ERR_COUNT, 21)
  call check(of_comm == wanted, 22)

  call windows()
  call files()
  call MPI_Comm_free(own)
  call MPI_Finalize()

contains

  subroutine windows()
    type(MPI_Win) :: win
    call MPI_Win_create(x, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_create_errhandler(win_handler, errhandler)
    call MPI_Win_set_errhandler(win, errhandler)
    call MPI_Type_vector(2, 1, 3, MPI_INTEGER, wide)
    call MPI_Type_commit(wide)
    call MPI_Win_fence(0, win)
    call MPI_Put(y(1:4:2), 3, MPI_INTEGER, rank, 0_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win, ierr)
    call refused(MPI_ERR_COUNT, 30)
    call MPI_Put(y(1:10:2), 1, wide, rank, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, ierr)
    call refused(MPI_ERR_BUFFER, 31)
    call MPI_Win_fence(0, win)
    call check(of_win == 2, 32)
    call MPI_Type_free(wide)
    call MPI_Win_free(win)
  end subroutine windows

  subroutine files()
    type(MPI_File) :: file
    write (name, '(a, i0)') 'refused.', rank
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_create_errhandler(file_handler, errhandler)
    call MPI_File_set_errhandler(file, errhandler)
    call MPI_File_write(file, x(1:4:2), 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call refused(MPI_ERR_COUNT, 40)
    call MPI_File_close(file)
    call check(of_file == 1, 41)
  end subroutine files

  subroutine refused(class, number)
    integer, intent(in) :: class, number
    integer :: got
    wanted = wanted + 1
    call MPI_Error_class(ierr, got)
    call check(got == class, number)
    call check(all(y == -1), number)
  end subroutine refused

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed on rank', rank, ierr
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check
end program main
