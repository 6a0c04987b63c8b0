`include "uart_defs.vh"
`ifdef WITH_PARITY
`include "parity.vh"
`endif
module uart #(parameter DIVIDER = `DIVIDER, parameter LOOP = 1) (
  input clk, input rst, input start, input [`DATA-1:0] data, input line_in,
  output line_out, output busy, output [`DATA-1:0] received, output interrupt
);
  wire line = LOOP ? line_out : line_in;
  uart_tx #(.DIVIDER(DIVIDER)) tx (.clk(clk), .rst(rst), .start(start), .data(data), .line(line_out), .busy(busy));
  uart_rx #(.DIVIDER(DIVIDER)) rx (.clk(clk), .rst(rst), .line(line), .data(received), .valid(interrupt));
endmodule
