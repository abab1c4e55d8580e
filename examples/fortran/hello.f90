! ranks: 1 4
!   cargo xtask build && dist/bin/mpifort examples/fortran/hello.f90 -o hello && dist/bin/mpirun -n 4 ./hello
program hello
  use mpi_f08
  implicit none
  integer :: rank, size, length
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Get_processor_name(host, length)
  print '(a,i0,a,i0,2a)', 'Hello from rank ', rank, ' of ', size, ' on ', host(:length)
  call MPI_Finalize()
end program hello
