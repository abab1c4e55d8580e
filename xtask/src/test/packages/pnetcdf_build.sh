# PnetCDF with its interfaces of Fortran 77 and 90, and its tests.
[ -x configure ] || autoreconf -i
mkdir -p built
cd built
if [ ! -f Makefile ]; then
    ../configure --quiet --disable-cxx "MPICC=$BIN/mpicc" "MPIF77=$BIN/mpif77" "MPIF90=$BIN/mpif90" CFLAGS='-O1 -w' \
        FFLAGS='-O1 -w -fallow-argument-mismatch' FCFLAGS='-O1 -w -fallow-argument-mismatch'
fi
make -s -j2 tests
