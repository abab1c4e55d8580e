# Its jobs name their numbers of ranks: 1 to 9.
cd src/test
bash ./cleantest.sh
bash ./runtest.sh -rtol 1e-6 -atol 1e-6 -mpi 'mpirun -np' TEST_struct/*.sh TEST_sstruct/*.sh
bash ./checktest.sh TEST_struct TEST_sstruct
echo "jobs $(ls TEST_struct/*.out* TEST_sstruct/*.out* | wc -l)"
