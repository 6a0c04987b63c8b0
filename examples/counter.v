// A counter of enabled cycles with a synchronous reset.
module counter (
    input clock,
    input reset,
    input enable,
    output reg [15:0] count
);
  always @(posedge clock)
    if (reset) count <= 0;
    else if (enable) count <= count + 1;
endmodule
