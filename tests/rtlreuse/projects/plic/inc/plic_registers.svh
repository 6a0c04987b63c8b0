// A flip-flop with asynchronous reset, active low.
`ifndef PLIC_REGISTERS_SVH
`define PLIC_REGISTERS_SVH
`define FF(q, d, reset_value)                              \
  always_ff @(posedge clk_i or negedge rst_ni) begin       \
    if (!rst_ni) q <= (reset_value);                       \
    else         q <= (d);                                 \
  end
`endif
