// The machine with channels driven the way a node drives it: frames over the control lines, claims at the same moment,
// read-back, barriers of two groups at once, noise on the control lines. Ends with "passed" or "FAILED".
`timescale 1ns / 1ps
`include "wires.vh"
module bench_channels;
    parameter N = 6;

    reg clk = 0;
    reg [4*N-1:0] out = 0;
    reg [4*N-1:0] control = 0;
    wire [3:0] level;
    wire [N-1:0] read_back;
    integer i, k, errors, seed;
    reg [7:0] word;

    tuc_channels #(.N(N)) machine (.clk(clk), .out(out), .control(control), .level(level), .read_back(read_back));
    always #5 clk = ~clk;

    // One node's frame, last bit in lowest place.
    task send(input integer node, input [7:0] frame);
        begin
            for (k = 7; k >= 0; k = k - 1) begin
                control[4*node+1] = frame[k];
                #50 control[4*node] = 1;
                #50 control[4*node] = 0;
                #50;
            end
        end
    endtask

    task commit(input integer node);
        begin
            control[4*node+2] = 1;
            #50;
            while (read_back[node] !== 1'b1) #10;
            control[4*node+2] = 0;
            #50;
        end
    endtask

    task load(input integer node);
        begin
            control[4*node+3] = 1;
            #50;
            for (k = 7; k >= 0; k = k - 1) begin
                word[k] = read_back[node];
                control[4*node] = 1;
                #50 control[4*node] = 0;
                #50;
            end
            control[4*node+3] = 0;
            #50;
        end
    endtask

    task expect_that(input condition, input integer what);
        if (condition !== 1'b1) begin
            $display("expectation %0d does not hold", what);
            errors = errors + 1;
        end
    endtask

    initial begin
        errors = 0;
        seed = 7;
        #100 expect_that(read_back == 0, 1);
        // Noise that holds no command joins nothing.
        for (i = 0; i < 500; i = i + 1) begin
            control[8 +: 2] = $random(seed);
            #20;
        end
        control[8 +: 2] = 0;
        #100 send(2, 8'h7f);
        control[4*2+2] = 1;
        #100 control[4*2+2] = 0;
        #100 expect_that(read_back == 0, 2);
        // Two nodes claim the same two channels at the same moment: exactly one gets both.
        send(0, {`CLAIM, 4'b0011});
        send(1, {`CLAIM, 4'b0011});
        control[2] = 1;
        control[6] = 1;
        #200 control[2] = 0;
        control[6] = 0;
        #100 expect_that(read_back == 6'b000011, 3);
        load(0);
        i = word;
        load(1);
        expect_that((i[7:4] == 4'b0011) ^ (word[7:4] == 4'b0011), 4);
        expect_that(i[3:0] == 4'b0011 && word[3:0] == 4'b0011, 5);
        // Node 0 and 1 on channel 0, nodes 2 to 4 on channel 1.
        for (i = 0; i < 5; i = i + 1) begin
            send(i, {`LEAVE, 4'b1111});
            commit(i);
            send(i, {`JOIN, (i < 2) ? 4'b0001 : 4'b0010});
            commit(i);
        end
        load(4);
        expect_that(word == 8'b0010_0011, 6);
        // Channels do not disturb each other, and those without members hold.
        out[0] = 1;
        #100 expect_that(level == 4'b0000, 7);
        out[4*2+1] = 1;
        out[4*3+1] = 1;
        out[4*4+1] = 1;
        #100 expect_that(level == 4'b0010, 8);
        out[4] = 1;
        #100 expect_that(level == 4'b0011, 9);
        // One of two leaves: its output counts no more.
        send(1, {`LEAVE, 4'b0001});
        commit(1);
        out[0] = 0;
        #100 expect_that(level == 4'b0010, 10);
        // All leave: the levels stay, whatever the outputs do.
        for (i = 0; i < 5; i = i + 1) begin
            send(i, {`LEAVE, 4'b0011});
            commit(i);
        end
        out = 0;
        #100 expect_that(level == 4'b0010, 11);
        out = ~0;
        #100 expect_that(level == 4'b0010, 12);
        if (errors == 0) $display("passed: frames, claims, groups, noise");
        else $display("FAILED: %0d errors", errors);
        $finish;
    end
endmodule
