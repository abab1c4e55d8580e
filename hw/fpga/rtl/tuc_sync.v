// W wires into the machine's clock: STAGES flip-flops against metastability (none: straight through), then a filter that
// believes a change only after FILTER equal samples, against contacts and edges that bounce.
module tuc_sync #(
    parameter W = 1,
    parameter STAGES = 2,
    parameter FILTER = 1
) (
    input              clk,
    input  [W-1:0]     d,
    output [W-1:0]     q
);
    wire [W-1:0] sample;

    generate
        if (STAGES == 0) begin : straight
            assign sample = d;
        end else begin : staged
            reg [W-1:0] stage [0:STAGES-1];
            integer i;
            initial for (i = 0; i < STAGES; i = i + 1) stage[i] = {W{1'b0}};
            always @(posedge clk) begin
                stage[0] <= d;
                for (i = 1; i < STAGES; i = i + 1) stage[i] <= stage[i-1];
            end
            assign sample = stage[STAGES-1];
        end

        if (FILTER <= 1) begin : open
            assign q = sample;
        end else begin : filtered
            // The FILTER - 1 samples before this one, newest first.
            reg [W-1:0] past [0:FILTER-2];
            reg [W-1:0] held = {W{1'b0}};
            reg [W-1:0] all, none;
            integer j;
            initial for (j = 0; j < FILTER - 1; j = j + 1) past[j] = {W{1'b0}};
            always @* begin
                all = sample;
                none = ~sample;
                for (j = 0; j < FILTER - 1; j = j + 1) begin
                    all = all & past[j];
                    none = none & ~past[j];
                end
            end
            always @(posedge clk) begin
                past[0] <= sample;
                for (j = 1; j < FILTER - 1; j = j + 1) past[j] <= past[j-1];
                held <= (held | all) & ~none;
            end
            assign q = held;
        end
    endgenerate
endmodule
