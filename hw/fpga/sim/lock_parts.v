// The parts side by side for `cargo xtask fpga verify`: a rising edge of `put` puts `state` into the part that `which`
// names, a rising edge of `clk` ticks it. Parts 1 to 6 are the classic machine with so many nodes, 7 to 12 the one
// without a clock, 13 the filter with 3 samples, 14 one channel of six nodes with every set of members.
module lock_parts (
    input             clk,
    input             put,
    input      [3:0]  which,
    input      [63:0] state,
    input      [15:0] in,
    output reg [63:0] next,
    output reg [15:0] out
);
    wire [63:0] next_of [0:15];
    wire [15:0] out_of [0:15];

    always @* begin
        next = next_of[which];
        out = out_of[which];
    end
    assign next_of[0] = 0;
    assign out_of[0] = 0;
    assign next_of[15] = 0;
    assign out_of[15] = 0;

    genvar n;
    generate
        for (n = 1; n <= 6; n = n + 1) begin : classic
            wire level, known;
            tuc_classic #(.N(n)) machine (.clk(clk), .out(in[n-1:0]), .level(level), .known(known));
            always @(posedge put) begin
                machine.channel.level <= state[0];
                machine.channel.known <= state[1];
                machine.sync.staged.stage[0] <= state[2 +: n];
                machine.sync.staged.stage[1] <= state[2 + n +: n];
                machine.heard <= {1'b0, state[2 + 2 * n +: 2]};
            end
            assign next_of[n] = {
                {(59 - 2 * n){1'b0}}, machine.heard, machine.sync.staged.stage[1], machine.sync.staged.stage[0], known,
                level};
            assign out_of[n] = {14'b0, known, level};
        end
        for (n = 1; n <= 6; n = n + 1) begin : element
            // The loop is cut here: the state is the level before, the output the level after.
            wire level_after = (&in[n-1:0]) | (state[0] & (|in[n-1:0]));
            wire level;
            tuc_celement #(.N(n)) machine (.out(settle ? in[n-1:0] : {n{state[0]}}), .level(level));
            assign next_of[n + 6] = {63'b0, level};
            assign out_of[n + 6] = {15'b0, level_after};
        end
    endgenerate
    // The element without a clock first sees outputs that force the level of `state`, then those of `in`.
    reg settle = 0;
    always @(posedge put or posedge clk) settle <= clk;

    wire filtered;
    tuc_sync #(.W(1), .STAGES(1), .FILTER(3)) filter (.clk(clk), .d(in[0]), .q(filtered));
    always @(posedge put) begin
        filter.staged.stage[0] <= state[0];
        filter.filtered.past[0] <= state[1];
        filter.filtered.past[1] <= state[2];
        filter.filtered.held <= state[3];
    end
    assign next_of[13] = {
        60'b0, filter.filtered.held, filter.filtered.past[1], filter.filtered.past[0], filter.staged.stage[0]};
    assign out_of[13] = {15'b0, filtered};

    wire busy, channel_level, channel_known;
    tuc_channel #(.N(6)) channel (
        .clk(clk), .out(in[5:0]), .member(in[11:6]), .busy(busy), .level(channel_level), .known(channel_known));
    always @(posedge put) begin
        channel.level <= state[0];
        channel.known <= state[1];
    end
    assign next_of[14] = {62'b0, channel_known, channel_level};
    assign out_of[14] = {13'b0, busy, channel_known, channel_level};
endmodule
