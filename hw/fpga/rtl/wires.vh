// Generated from hw/fpga/wires.txt by `cargo xtask fpga wires`.
`ifndef WIRES
`define WIRES
// Nodes that one machine serves
`define NODES 60
// Barriers at once on the machine with channels
`define CHANNELS 4
// Bits of the register behind the control lines: command, then mask; read back: members, then busy
`define FRAME 8
// Command: this node becomes a member of the mask's channels
`define JOIN 4'ha
// Command: this node is no member of the mask's channels any more
`define LEAVE 4'h5
// Command: this node becomes a member of those channels of the mask that have no members
`define CLAIM 4'h9
`endif
