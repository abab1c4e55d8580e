// The machine as published: one barrier, every node takes part in each. `known` drives the read-back line of all nodes
// (see wires.txt): it is low from power-up until all outputs agree, so that a machine which was restarted while some had
// arrived says nothing wrong.
module tuc_classic #(
    parameter N = 60,
    parameter STAGES = 2,
    parameter FILTER = 1
) (
    input          clk,
    input  [N-1:0] out,
    output         level,
    output         known
);
    // Flip-flops come up as zeros, which all nodes could have said: until every synchroniser and filter has heard its wire
    // there are no members, and the channel holds.
    localparam [2:0] WARM = STAGES + FILTER;
    reg [2:0] heard;
    wire warm = heard == WARM;
    initial heard = 0;
    always @(posedge clk) if (!warm) heard <= heard + 3'd1;

    wire [N-1:0] seen;
    /* verilator lint_off UNUSED */
    wire busy;
    /* verilator lint_on UNUSED */

    tuc_sync #(.W(N), .STAGES(STAGES), .FILTER(FILTER)) sync (.clk(clk), .d(out), .q(seen));
    tuc_channel #(.N(N)) channel (
        .clk(clk), .out(seen), .member({N{warm}}), .busy(busy), .level(level), .known(known));
endmodule
