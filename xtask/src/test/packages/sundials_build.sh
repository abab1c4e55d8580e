# SUNDIALS: ARKODE and the parallel vectors by their modules of Fortran 2003; CMake finds MPI.
mkdir -p built
cd built
cmake .. -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS='-O0 -w' -DCMAKE_Fortran_FLAGS='-O0 -w' -DENABLE_MPI=ON \
    -DBUILD_FORTRAN_MODULE_INTERFACE=ON -DBUILD_CVODE=OFF -DBUILD_CVODES=OFF -DBUILD_IDA=OFF -DBUILD_IDAS=OFF -DBUILD_KINSOL=OFF \
    -DBUILD_SHARED_LIBS=OFF -DEXAMPLES_INSTALL=OFF -DEXAMPLES_ENABLE_C=OFF -DEXAMPLES_ENABLE_F2003=ON \
    -DSUNDIALS_LOGGING_ENABLE_MPI=ON -DMPI_C_COMPILER="$BIN/mpicc" -DMPI_Fortran_COMPILER="$BIN/mpifort"
make -s -j2 test_fnvector_parallel_mod test_fnvector_mpimanyvector_mod test_fnvector_mpiplusx_mod \
    ark_brusselator1D_task_local_nls_f2003
