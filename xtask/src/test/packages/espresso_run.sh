# Silicon, from its own test suite: the total energies of ours and of its reference.
cd test-suite/pw_scf
for name in scf scf-k0 scf-gamma; do
    mkdir -p "out@$RANKS"
    ESPRESSO_PSEUDO="$PWD/../../EPW/examples/sic/pp" ESPRESSO_TMPDIR="$PWD/out@$RANKS" mpirun -n "$RANKS" ../../PW/src/pw.x -in "$name.in" > "$name@$RANKS.out"
    ours=$(sed -n 's/^! *total energy *= *\([-0-9.]*\) Ry/\1/p' "$name@$RANKS.out" | tail -n 1)
    theirs=$(sed -n 's/^! *total energy *= *\([-0-9.]*\) Ry/\1/p' "benchmark.out.git.inp=$name.in" | tail -n 1)
    echo "energy $ours $theirs"
done
