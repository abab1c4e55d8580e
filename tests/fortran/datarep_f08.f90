! ranks: 1
! The data representation of datarep_mpi.f90 through module mpi_f08, with counts of either kind.
module doubled
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: small = 0, large = 0
  integer(kind=MPI_ADDRESS_KIND), parameter :: state = 4711

contains

  subroutine extent_of(datatype, extent, extra, ierror)
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra
    integer :: ierror
    extent = merge(8, 1, datatype == MPI_INTEGER .and. extra == state)
    ierror = MPI_SUCCESS
  end subroutine extent_of

  subroutine convert(writes, user, count, in_file, position)
    logical :: writes
    type(c_ptr) :: user, in_file
    integer(kind=MPI_COUNT_KIND) :: count, i
    integer(kind=MPI_OFFSET_KIND) :: position
    integer, pointer :: here(:), there(:)
    call c_f_pointer(user, here, [position + count])
    call c_f_pointer(in_file, there, [2 * count])
    do i = 1, count
      if (writes) then
        there(2 * i - 1) = here(position + i)
        there(2 * i) = -here(position + i)
      else
        here(position + i) = -there(2 * i)
      end if
    end do
  end subroutine convert

  subroutine read_small(user, datatype, count, in_file, position, extra, ierror)
    type(c_ptr), value :: user, in_file
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra
    call convert(.false., user, int(count, MPI_COUNT_KIND), in_file, position)
    small = small + 1
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra == state)
  end subroutine read_small

  subroutine write_small(user, datatype, count, in_file, position, extra, ierror)
    type(c_ptr), value :: user, in_file
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra
    call convert(.true., user, int(count, MPI_COUNT_KIND), in_file, position)
    small = small + 1
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra == state)
  end subroutine write_small

  subroutine read_large(user, datatype, count, in_file, position, extra, ierror)
    type(c_ptr), value :: user, in_file
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra
    call convert(.false., user, count, in_file, position)
    large = large + 1
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra == state)
  end subroutine read_large

  subroutine write_large(user, datatype, count, in_file, position, extra, ierror)
    type(c_ptr), value :: user, in_file
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra
    call convert(.true., user, count, in_file, position)
    large = large + 1
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra == state)
  end subroutine write_large
end module doubled

program main
  use doubled
  implicit none
  type(MPI_File) :: file
  integer :: i, rank, out(10), in(10), pairs(20)
  character(len=24) :: path

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Register_datarep('small', read_small, write_small, extent_of, state)
  call MPI_Register_datarep_c('large', read_large, write_large, extent_of, state)
  ! Each rank has a file of its own.
  write (path, '(a,i0,a)') 'datarep_f08.', rank, '.bin'
  call MPI_File_open(MPI_COMM_SELF, path, ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), &
    MPI_INFO_NULL, file)
  out = [(7 * i, i = 1, 10)]
  call around('small')
  if (small == 0 .or. large /= 0) call fail(1)
  out = out + 1
  call around('large')
  if (large == 0) call fail(2)
  call MPI_File_close(file)
  call MPI_Finalize()

contains

  subroutine around(representation)
    character(len=*), intent(in) :: representation
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, representation, MPI_INFO_NULL)
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, out, 10, MPI_INTEGER, MPI_STATUS_IGNORE)
    in = 0
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, in, 10, MPI_INTEGER, MPI_STATUS_IGNORE)
    if (any(in /= out)) call fail(3)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, pairs, 20, MPI_INTEGER, MPI_STATUS_IGNORE)
    if (any(pairs(1::2) /= out) .or. any(pairs(2::2) /= -out)) call fail(4)
  end subroutine around

  subroutine fail(place)
    integer, intent(in) :: place
    print '(a,i0)', 'wrong at ', place
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine fail
end program main
