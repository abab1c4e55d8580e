! Compiled by `cargo xtask build` to prove that a Fortran program links: it ends with 0 where one rank can do a reduction.
program smoke
  use mpi_f08
  implicit none
  integer :: mine(2), sum(2), rank, size
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  mine = rank + 1
  call MPI_Allreduce(mine, sum, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (any(sum /= size * (size + 1) / 2)) error stop 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  if (any(sum /= size * (size + 1) / 2)) error stop 2
  call MPI_Finalize()
end program smoke
