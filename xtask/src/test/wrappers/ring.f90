! Built in every way that `cargo xtask test wrappers` knows.
program ring
  use mpi
  implicit none
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  integer :: rank, size, length, token, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Get_library_version(version, length, ierror)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, size), 0, token, 1, MPI_INTEGER, mod(rank + size - 1, size), 0, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  if (token /= mod(rank + size - 1, size)) call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
  print '(a,i0,2a)', 'ring of ', size, ': ', version(:length)
  call MPI_Finalize(ierror)
end program ring
