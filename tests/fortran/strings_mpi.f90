! ranks: 1 2
! Texts through module mpi: blanks go and come back, lengths leave C's NUL out.
program main
  use mpi
  implicit none
  integer :: ierr, length, info, class, code
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=4) :: short
  character(len=MPI_MAX_ERROR_STRING) :: message
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=20) :: value
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=400) :: long
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
  call check(name == 'MPI_COMM_WORLD' .and. length == 14, 1)
  call MPI_Comm_set_name(MPI_COMM_SELF, 'mine alone   ', ierr)
  call MPI_Comm_get_name(MPI_COMM_SELF, name, length, ierr)
  call check(length == 10 .and. name(1:11) == 'mine alone ' .and. name(128 - 1:) == ' ', 2)
  call MPI_Comm_get_name(MPI_COMM_SELF, short, length, ierr)
  call check(short == 'mine', 3)
  call MPI_Error_string(MPI_ERR_TRUNCATE, message, length, ierr)
  call check(length > 10 .and. message(length + 1:) == ' ', 4)
  call MPI_Get_processor_name(host, length, ierr)
  call check(length > 0 .and. len_trim(host) == length, 5)
  call MPI_Get_library_version(version, length, ierr)
  call check(index(version, 'ompi-rs') > 0, 6)

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, '  key ', '   a value  ', ierr)
  call MPI_Info_get(info, 'key', 20, value, flag, ierr)
  call check(flag .and. value == 'a value', 7)
  length = 0
  call MPI_Info_get_string(info, ' key', length, value, flag, ierr)
  call check(flag .and. length == 7, 8)
  length = 3
  call MPI_Info_get_string(info, 'key', length, value, flag, ierr)
  call check(flag .and. length == 7 .and. value == 'a v', 9)
  call MPI_Info_get_valuelen(info, 'key', length, flag, ierr)
  call check(flag .and. length == 7, 10)
  call MPI_Info_get_nthkey(info, 0, key, ierr)
  call check(key == 'key', 11)
  call MPI_Info_get(info, 'other', 20, value, flag, ierr)
  call check(.not. flag, 12)
  ! Longer than what is kept on the stack.
  long = repeat('x', 300)
  call MPI_Info_set(info, 'long', long, ierr)
  call MPI_Info_get_valuelen(info, 'long', length, flag, ierr)
  call check(length == 300, 13)
  call MPI_Info_free(info, ierr)
  call check(info == MPI_INFO_NULL, 14)

  call MPI_Add_error_class(class, ierr)
  call MPI_Add_error_code(class, code, ierr)
  call MPI_Add_error_string(code, 'of our own', ierr)
  call MPI_Error_string(code, message, length, ierr)
  call check(message == 'of our own', 15)
  call MPI_Finalize(ierr)

contains

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed'
    stop 1
  end subroutine check
end program main
