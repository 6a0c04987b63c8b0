module replacement #(
    parameter int unsigned Ways = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic use_i,
    output logic [$clog2(Ways)-1:0] victim_o
);
  logic [15:0] state;
  logic [15:0] seed[1];
  initial $readmemh("seed.hex", seed);
  assign victim_o = state[$clog2(Ways)-1:0];
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) state <= 16'h1;
    else if (use_i) state <= {state[14:0], state[15] ^ state[13] ^ state[12] ^ state[10]} ^ seed[0];
endmodule
