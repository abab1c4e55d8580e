// 60 nodes on one iCE40 HX8K in a ct256 package: 60 outputs in, 60 levels out, clock, read-back.
module top_classic (
    input         clk,
    input  [59:0] out,
    output [59:0] level,
    output        present_n
);
    wire one, known;

    tuc_classic #(.N(60), .STAGES(2), .FILTER(1)) machine (.clk(clk), .out(out), .level(one), .known(known));
    assign level = {60{one}};
    assign present_n = ~known;
endmodule
