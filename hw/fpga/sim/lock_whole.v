// Whole machines, wire by wire (out0 is what all nodes say on channel 0), for `cargo xtask fpga verify` and as the core of
// tuc-fpga.
module lock_whole #(
    parameter N = 60
) (
    input         clk,
    input  [N-1:0] out0, out1, out2, out3,
    input  [N-1:0] shift, bit_in, commit, load,
    output [N-1:0] read_back,
    output [3:0]  level,
    output        classic_level,
    output        classic_known,
    output        straight_level,
    output        straight_known,
    output        element_level
);
    wire [4*N-1:0] out, control;
    genvar i;
    generate
        for (i = 0; i < N; i = i + 1) begin : node
            assign out[4*i +: 4] = {out3[i], out2[i], out1[i], out0[i]};
            assign control[4*i +: 4] = {load[i], commit[i], bit_in[i], shift[i]};
        end
    endgenerate

    tuc_channels #(.N(N)) channels (
        .clk(clk), .out(out), .control(control), .level(level), .read_back(read_back));
    tuc_classic #(.N(N)) classic (.clk(clk), .out(out0), .level(classic_level), .known(classic_known));
    tuc_classic #(.N(N), .STAGES(0)) straight (
        .clk(clk), .out(out0), .level(straight_level), .known(straight_known));
    tuc_celement #(.N(N)) element (.out(out0), .level(element_level));
endmodule
