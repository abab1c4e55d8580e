// Whole machines with 60 nodes for `cargo xtask fpga verify`, wire by wire: out0 is what all nodes say on channel 0.
module lock_whole (
    input         clk,
    input  [59:0] out0, out1, out2, out3,
    input  [59:0] shift, bit_in, commit, load,
    output [59:0] read_back,
    output [3:0]  level,
    output        classic_level,
    output        classic_known,
    output        straight_level,
    output        straight_known,
    output        element_level
);
    wire [239:0] out, control;
    genvar i;
    generate
        for (i = 0; i < 60; i = i + 1) begin : node
            assign out[4*i +: 4] = {out3[i], out2[i], out1[i], out0[i]};
            assign control[4*i +: 4] = {load[i], commit[i], bit_in[i], shift[i]};
        end
    endgenerate

    tuc_channels #(.N(60)) channels (
        .clk(clk), .out(out), .control(control), .level(level), .read_back(read_back));
    tuc_classic #(.N(60)) classic (.clk(clk), .out(out0), .level(classic_level), .known(classic_known));
    tuc_classic #(.N(60), .STAGES(0)) straight (
        .clk(clk), .out(out0), .level(straight_level), .known(straight_known));
    tuc_celement #(.N(60)) element (.out(out0), .level(element_level));
endmodule
