cd src
[ -e config/Makefile.config ] || ./configure --disable-fortran --with-MPI CC=mpicc CXX=mpicxx CFLAGS='-O1 -w'
make -j2 all
make -C test -j2 all
