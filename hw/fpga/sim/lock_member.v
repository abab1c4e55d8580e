// The membership register of one node for `cargo xtask fpga verify`; see lock_parts.v.
module lock_member (
    input         clk,
    input         put,
    /* verilator lint_off UNUSED */
    input  [3:0]  which,
    input  [63:0] state,
    input  [15:0] in,
    /* verilator lint_on UNUSED */
    output [63:0] next,
    output [15:0] out
);
    wire [3:0] member;
    wire read_back;

    tuc_member node (
        .clk(clk), .shift(in[0]), .bit_in(in[1]), .commit(in[2]), .load(in[3]), .busy(in[7:4]), .turn(in[8]),
        .member(member), .read_back(read_back));
    always @(posedge put) begin
        node.frame <= state[7:0];
        node.shift_before <= state[8];
        node.commit_before <= state[9];
        node.load_before <= state[10];
        node.armed <= state[11];
        node.pending <= state[12];
        node.member <= state[16:13];
    end
    assign next = {
        47'b0, member, node.pending, node.armed, node.load_before, node.commit_before, node.shift_before, node.frame};
    assign out = {15'b0, read_back};
endmodule
