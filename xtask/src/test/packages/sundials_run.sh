# Tests of three kinds of vectors, and a chemical reaction in one dimension.
for kind in parallel mpimanyvector mpiplusx; do
    mpirun -n "$RANKS" "built/examples/nvector/$kind/test_fnvector_${kind}_mod"
done
name=ark_brusselator1D_task_local_nls_f2003
mpirun -n "$RANKS" built/examples/arkode/F2003_parallel/$name --monitor > built/solution
diff -b built/solution "examples/arkode/F2003_parallel/${name}_--monitor.out"
echo "the solution is that of the reference"
