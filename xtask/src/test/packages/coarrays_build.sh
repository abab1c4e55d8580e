# The library of coarrays, and its tests as programs with coarrays; CMake finds MPI.
mkdir -p built
cd built
cmake .. -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS='-O0 -w' -DCMAKE_Fortran_FLAGS='-O0 -w' \
    -DMPI_C_COMPILER="$BIN/mpicc" -DMPI_Fortran_COMPILER="$BIN/mpifort" -DMPIEXEC_EXECUTABLE="$BIN/mpirun"
make -s -j2
