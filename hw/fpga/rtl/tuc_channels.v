// Several barriers at once: each node says for itself which channels it is a member of. Buses are node by node:
// out[CHANNELS * i + c] is what node i says on channel c, control[4 * i] its SHIFT, then BIT, COMMIT, LOAD.
`include "wires.vh"
module tuc_channels #(
    parameter N = 60,
    parameter STAGES = 2,
    parameter FILTER = 1
) (
    input                    clk,
    input  [`CHANNELS*N-1:0] out,
    input  [4*N-1:0]         control,
    output [`CHANNELS-1:0]   level,
    output [N-1:0]           read_back
);
    wire [`CHANNELS*N-1:0] seen;
    wire [4*N-1:0] line;
    wire [`CHANNELS*N-1:0] member;
    wire [`CHANNELS-1:0] busy;
    /* verilator lint_off UNUSED */
    wire [`CHANNELS-1:0] known;
    /* verilator lint_on UNUSED */

    tuc_sync #(.W(`CHANNELS*N), .STAGES(STAGES), .FILTER(FILTER)) sync_out (.clk(clk), .d(out), .q(seen));
    tuc_sync #(.W(4*N), .STAGES(STAGES), .FILTER(1)) sync_control (.clk(clk), .d(control), .q(line));

    // Whose claim is heard: one node after another.
    reg [5:0] turn;
    /* verilator lint_off WIDTH */
    localparam [5:0] LAST = N - 1;
    /* verilator lint_on WIDTH */
    initial turn = 0;
    always @(posedge clk) turn <= (turn == LAST) ? 6'd0 : turn + 6'd1;

    genvar i, c;
    generate
        for (i = 0; i < N; i = i + 1) begin : node
            tuc_member membership (
                .clk(clk),
                .shift(line[4*i]),
                .bit_in(line[4*i+1]),
                .commit(line[4*i+2]),
                .load(line[4*i+3]),
                .busy(busy),
                .turn(turn == i),
                .member(member[`CHANNELS*i +: `CHANNELS]),
                .read_back(read_back[i]));
        end
        for (c = 0; c < `CHANNELS; c = c + 1) begin : channel
            wire [N-1:0] channel_out, channel_member;
            for (i = 0; i < N; i = i + 1) begin : wire_of
                assign channel_out[i] = seen[`CHANNELS*i+c];
                assign channel_member[i] = member[`CHANNELS*i+c];
            end
            tuc_channel #(.N(N)) machine (
                .clk(clk), .out(channel_out), .member(channel_member), .busy(busy[c]),
                .level(level[c]), .known(known[c]));
        end
    endgenerate
endmodule
