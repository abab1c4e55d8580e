// What one node is a member of: a shift register behind its four control lines. Only a frame whose upper half is a
// command does anything, so that a BIOS or driver that probes the port joins nothing. Commands say what changes, not
// what is: a machine that forgot the rest shows it when it is read back. A claim waits for the node's turn;
// as turns come one after another, two nodes never claim the same channel.
`include "wires.vh"
module tuc_member (
    input                      clk,
    input                      shift,
    input                      bit_in,
    input                      commit,
    input                      load,
    input      [`CHANNELS-1:0] busy,
    input                      turn,
    output reg [`CHANNELS-1:0] member,
    output                     read_back
);
    reg [`FRAME-1:0] frame;
    reg shift_before, commit_before, load_before;
    // A command was done since power-up; and one waits for this node's turn.
    reg armed, pending;

    wire [3:0] command = frame[`FRAME-1:`CHANNELS];
    wire [`CHANNELS-1:0] mask = frame[`CHANNELS-1:0];
    wire commits = commit & ~commit_before;

    // Quiet: whether this node's members are what it said. While COMMIT is high: done. While LOAD is high: the last bit.
    assign read_back = load ? frame[`FRAME-1] : commit ? commit_before & ~pending : armed;

    initial begin
        frame = 0;
        shift_before = 0;
        commit_before = 0;
        load_before = 0;
        armed = 0;
        pending = 0;
        member = 0;
    end

    always @(posedge clk) begin
        shift_before <= shift;
        commit_before <= commit;
        load_before <= load;
        if (load & ~load_before) frame <= {member, busy};
        else if (shift & ~shift_before) frame <= {frame[`FRAME-2:0], bit_in};
        if (commits & (command == `JOIN)) begin
            member <= member | mask;
            armed <= 1'b1;
            pending <= 1'b0;
        end else if (commits & (command == `LEAVE)) begin
            member <= member & ~mask;
            armed <= 1'b1;
            pending <= 1'b0;
        end else if (commits & (command == `CLAIM)) begin
            armed <= 1'b1;
            pending <= 1'b1;
        end else if (pending & turn) begin
            member <= member | (mask & ~busy);
            pending <= 1'b0;
        end
    end
endmodule
