// 60 nodes at random speeds on the machine as published, with and without a clock: nobody leaves before all have come,
// everybody leaves. Ends with "passed" or "FAILED".
`timescale 1ns / 1ps
module bench_classic;
    parameter N = 60;
    parameter ROUNDS = 200;

    reg clk = 0;
    reg [N-1:0] out = 0;
    wire level, known, element;
    integer round, node, left, seed, errors, gap, patience;

    tuc_classic #(.N(N)) machine (.clk(clk), .out(out), .level(level), .known(known));
    tuc_celement #(.N(N)) free (.out(out), .level(element));
    always #5 clk = ~clk;

    initial begin
        seed = 1;
        errors = 0;
        #100;
        if (known !== 1'b1 || level !== 1'b0 || element !== 1'b0) errors = errors + 1;
        for (round = 1; round <= ROUNDS; round = round + 1) begin
            left = N;
            while (left > 0) begin
                node = $unsigned($random(seed)) % N;
                if (out[node] !== round[0]) begin
                    gap = $unsigned($random(seed)) % 40;
                    #(gap);
                    // Not all have come: nobody may see the flip.
                    if (level !== ~round[0] || element !== ~round[0]) errors = errors + 1;
                    out[node] = round[0];
                    left = left - 1;
                end
            end
            // Two flip-flops and the level's own: three edges, and no more.
            patience = 0;
            while (level !== round[0] && patience < 4) begin
                @(posedge clk) patience = patience + 1;
                #1;
            end
            if (patience > 3 || element !== round[0]) errors = errors + 1;
        end
        if (errors == 0) $display("passed: %0d barriers of %0d nodes", ROUNDS, N);
        else $display("FAILED: %0d errors", errors);
        $finish;
    end
endmodule
