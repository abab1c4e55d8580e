// The Verilog machines as a library, which tuc-fpga loads as its core: see hw/rig/src/verilog.rs.
#include "Vlock.h"
#include "verilated.h"
#include <cstdint>

struct Core {
    VerilatedContext context;
    Vlock top{&context};
};

// A machine that was just powered up; it is never given back.
extern "C" Core *tuc_core_new() {
    Core *core = new Core;
    core->top.clk = 0;
    core->top.eval();
    return core;
}

// So many ticks with these words on the wires: four channels' outputs, four control lines. Answers with the read-back
// lines, the channels' levels, and level and known of the classic machine.
extern "C" void tuc_core_run(Core *core, uint64_t ticks, const uint64_t in[8], uint64_t answer[3]) {
    Vlock &top = core->top;
    top.out0 = in[0];
    top.out1 = in[1];
    top.out2 = in[2];
    top.out3 = in[3];
    top.shift = in[4];
    top.bit_in = in[5];
    top.commit = in[6];
    top.load = in[7];
    for (; ticks > 0; ticks--) {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }
    top.clk = 0;
    top.eval();
    answer[0] = top.read_back;
    answer[1] = top.level;
    answer[2] = top.classic_level | top.classic_known << 1;
}
