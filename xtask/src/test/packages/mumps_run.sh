# Its own example, and the differences of a cube of places: each has six neighbours, and the right side is what ones give.
mpirun -n "$RANKS" examples/dsimpletest < examples/input_simpletest_real
awk 'BEGIN {
    n = 12
    print n * n * n
    print n * n * n + 6 * n * n * (n - 1)
    split("-1 1 0 0 0 0", dx); split("0 0 -1 1 0 0", dy); split("0 0 0 0 -1 1", dz)
    for (x = 0; x < n; x++) for (y = 0; y < n; y++) for (z = 0; z < n; z++) {
        here = 1 + x + n * (y + n * z)
        print here, here, 7.0
        right[here] = 7
        for (k = 1; k <= 6; k++) {
            a = x + dx[k]; b = y + dy[k]; c = z + dz[k]
            if (a < 0 || b < 0 || c < 0 || a >= n || b >= n || c >= n) continue
            print here, 1 + a + n * (b + n * c), -1.0
            right[here]--
        }
    }
    for (here = 1; here <= n * n * n; here++) print right[here] ".0"
}' > cube
mpirun -n "$RANKS" examples/dsimpletest < cube
