# Programs, and at which numbers of ranks, as libs/mpi/test/Jamfile.v2 has it; where that names none, 1 to 7.
while read -r program numbers; do
    for ranks in $numbers; do
        mpirun -n "$ranks" "programs/$program" > "programs/$program.out" 2>&1 || {
            cat "programs/$program.out"
            echo "failed: $program with $ranks ranks"
            exit 1
        }
        echo "passed: $program with $ranks ranks"
    done
done <<'END'
block_nonblock_test 2
random_gather 2
random_scatter 2
cartesian_communicator 24
cartesian_topology_init_test 1
broadcast_stl_test 2
all_gather_test 1 2 11
all_reduce_test 1 2 11
all_to_all_test 1 2 11
broadcast_test 2 17
gather_test 1 2 11
is_mpi_op_test 1
mt_level_test 1
mt_init_test 1 4
nonblocking_test 2 11 24
reduce_test 1 2 3 4 7
ring_test 2 3 4 7 8 13 17
sendrecv_test 1 4 7 48
wait_any_test 1 4 7 20
wait_all_vector_test 2
wait_all_on_null 1 2
scan_test 1 2 3 4 7
scatter_test 1 2 3 4 7
skeleton_content_test 2 3 4 7 8 13 17
graph_topology_test 2 7 13
cartesian_topology_test 24
pointer_test 2
groups_test 1 2 3 4 7
sendrecv_vector 2
non_blocking_any_source 2 17
END
