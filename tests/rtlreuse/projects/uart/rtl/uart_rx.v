`include "uart_defs.vh"
module uart_rx #(parameter DIVIDER = `DIVIDER) (
  input clk, input rst, input line, output reg [`DATA-1:0] data, output reg valid
);
  reg [3:0] left;
  reg [7:0] count;
  always @(posedge clk) begin
    valid <= 0;
    if (rst) left <= 0;
    else if (left == 0) begin
      if (!line) begin
        left <= `DATA + 1;
        count <= DIVIDER + DIVIDER / 2 - 2;
      end
    end else if (count != 0) count <= count - 1;
    else begin
      count <= DIVIDER - 1;
      left <= left - 1;
      if (left > 1) data <= {line, data[`DATA-1:1]};
      valid <= left == 1 && line;
    end
  end
endmodule
