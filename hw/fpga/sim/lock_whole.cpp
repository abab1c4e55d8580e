// Steps the whole machines: reads eight words per tick (four channels' outputs, four control lines), answers with the
// read-back lines before the tick and the levels after it.
#include "Vlock.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>

int main() {
    VerilatedContext context;
    Vlock top{&context};
    uint64_t in[8], answer[2];
    top.clk = 0;
    top.eval();
    while (fread(in, sizeof in, 1, stdin) == 1) {
        top.out0 = in[0];
        top.out1 = in[1];
        top.out2 = in[2];
        top.out3 = in[3];
        top.shift = in[4];
        top.bit_in = in[5];
        top.commit = in[6];
        top.load = in[7];
        top.clk = 0;
        top.eval();
        answer[0] = top.read_back;
        top.clk = 1;
        top.eval();
        answer[1] = top.level | top.classic_level << 4 | top.classic_known << 5 | top.straight_level << 6
                    | top.straight_known << 7 | top.element_level << 8;
        if (fwrite(answer, sizeof answer, 1, stdout) != 1) return 1;
    }
    return 0;
}
