// Steps one part through all its states and inputs; see lock_parts.v. Reads requests of four words (part, bits of state,
// bits of input, stride through the states) and answers each state with a digest over all its inputs: of what comes out before the tick and of
// the state after it. The Rust side computes the same.
#include "Vlock.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>

static uint64_t mix(uint64_t digest, uint64_t word) {
    return (digest ^ word) * 0x100000001b3ull;
}

int main() {
    VerilatedContext context;
    Vlock top{&context};
    uint64_t request[4];
    while (fread(request, sizeof request, 1, stdin) == 1) {
        top.which = request[0];
        for (uint64_t state = 0; state >> request[1] == 0; state += request[3]) {
            uint64_t digest = 0xcbf29ce484222325ull;
            for (uint64_t in = 0; in >> request[2] == 0; in++) {
                top.state = state;
                top.clk = 0;
                top.put = 0;
                top.eval();
                top.put = 1;
                top.eval();
                top.in = in;
                top.eval();
                digest = mix(digest, top.out);
                top.put = 0;
                top.clk = 1;
                top.eval();
                digest = mix(digest, top.next);
            }
            if (fwrite(&digest, sizeof digest, 1, stdout) != 1) return 1;
        }
        fflush(stdout);
    }
    return 0;
}
