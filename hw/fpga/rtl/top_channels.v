// Four channels need nine pins per node (the levels are the same for all and go through buffers on the board): 22 nodes
// fit the 206 pins of an HX8K in ct256.
`include "wires.vh"
module top_channels #(
    parameter N = 22
) (
    input                    clk,
    input  [`CHANNELS*N-1:0] out,
    input  [4*N-1:0]         control,
    output [`CHANNELS-1:0]   level,
    output [N-1:0]           read_back_n
);
    wire [N-1:0] read_back;

    tuc_channels #(.N(N), .STAGES(2), .FILTER(1)) machine (
        .clk(clk), .out(out), .control(control), .level(level), .read_back(read_back));
    assign read_back_n = ~read_back;
endmodule
