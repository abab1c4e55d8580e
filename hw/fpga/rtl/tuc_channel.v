// The two-state machine of one barrier: the level follows the members' outputs when they all agree. Without members it
// holds (an AND over nothing would set it, an AND over nothing of the inverted outputs clear it, for ever in turn).
// `known` says that they have agreed since power-up: before that the level means nothing.
module tuc_channel #(
    parameter N = 60
) (
    input          clk,
    input  [N-1:0] out,
    input  [N-1:0] member,
    output         busy,
    output reg     level,
    output reg     known
);
    wire high = busy & (&(out | ~member));
    wire low  = busy & ~(|(out & member));

    assign busy = |member;

    initial begin
        level = 1'b0;
        known = 1'b0;
    end

    always @(posedge clk) begin
        if (high) level <= 1'b1;
        else if (low) level <= 1'b0;
        if (high | low) known <= 1'b1;
    end
endmodule
