// The same machine without a clock: Muller's C-element over all outputs. No synchroniser is needed because no clock
// samples anything, and it is the shortest way from the last arrival to the level. The inputs must be monotone between
// two flips (no bouncing), and nothing tells a level from before a power failure from one after it.
module tuc_celement #(
    parameter N = 60
) (
    input  [N-1:0] out,
    output         level
);
    assign level = (&out) | (level & (|out));
endmodule
