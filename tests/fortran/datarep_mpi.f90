! ranks: 1 2
! A data representation of the program's own through module mpi, MPI 5.0 section 14.5.3: in the file stand a number and its negative,
! in memory the number alone.
module doubled
  use mpi
  implicit none
  integer :: reads = 0, writes = 0, wrong = 0
  integer(kind=MPI_ADDRESS_KIND), parameter :: state = 4711

contains

  subroutine extent_of(datatype, extent, extra, ierror)
    integer :: datatype, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra
    if (extra /= state) wrong = wrong + 1
    extent = merge(8, 1, datatype == MPI_INTEGER)
    ierror = MPI_SUCCESS
  end subroutine extent_of

  subroutine read_them(user, datatype, count, in_file, position, extra, ierror)
    integer :: user(*), datatype, count, in_file(*), ierror, i
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra
    if (extra /= state) wrong = wrong + 1
    do i = 1, count
      user(position + i) = in_file(2 * i - 1)
      if (in_file(2 * i) /= -in_file(2 * i - 1)) wrong = wrong + 1
    end do
    reads = reads + 1
    ierror = MPI_SUCCESS
  end subroutine read_them

  subroutine write_them(user, datatype, count, in_file, position, extra, ierror)
    integer :: user(*), datatype, count, in_file(*), ierror, i
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra
    if (extra /= state) wrong = wrong + 1
    do i = 1, count
      in_file(2 * i - 1) = user(position + i)
      in_file(2 * i) = -user(position + i)
    end do
    writes = writes + 1
    ierror = MPI_SUCCESS
  end subroutine write_them
end module doubled

program main
  use doubled
  implicit none
  integer :: ierr, rank, ranks, file, i, out(10), in(10), pairs(20), class, code
  integer(kind=MPI_OFFSET_KIND) :: start
  character(len=64) :: path, is
  external :: fail

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Register_datarep('doubled  ', read_them, write_them, extent_of, state, ierr)
  if (ierr /= MPI_SUCCESS) call fail(1)
  call MPI_Register_datarep('plain', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, state, ierr)
  if (ierr /= MPI_SUCCESS) call fail(2)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Register_datarep('doubled', read_them, write_them, extent_of, state, code)
  call MPI_Error_class(code, class, ierr)
  if (class /= MPI_ERR_DUP_DATAREP) call fail(3)

  write (path, '(a,i0,a)') 'datarep_mpi.', ranks, '.bin'
  call MPI_File_open(MPI_COMM_WORLD, path, ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), &
    MPI_INFO_NULL, file, ierr)
  if (ierr /= MPI_SUCCESS) call fail(4)
  start = 0
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'doubled', MPI_INFO_NULL, ierr)
  if (ierr /= MPI_SUCCESS) call fail(5)
  call MPI_File_get_view(file, start, i, class, is, ierr)
  if (is /= 'doubled') call fail(6)
  out = [(100 * rank + i, i = 1, 10)]
  start = 10 * rank
  call MPI_File_write_at_all(file, start, out, 10, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  in = 0
  call MPI_File_read_at_all(file, start, in, 10, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  if (any(in /= out)) call fail(7)
  if (reads == 0 .or. writes == 0 .or. wrong /= 0) call fail(8)
  ! What lies in the file, as it is.
  start = 80 * rank
  call MPI_File_sync(file, ierr)
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  start = 0
  call MPI_File_read_at_all(file, start, pairs, 20, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  if (any(pairs(1::2) /= out) .or. any(pairs(2::2) /= -out)) call fail(9)
  call MPI_File_close(file, ierr)
  call MPI_Finalize(ierr)
end program main

subroutine fail(place)
  use mpi
  integer :: place, ierr
  print '(a,i0)', 'wrong at ', place
  call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
end subroutine fail
