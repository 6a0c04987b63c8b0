`include "uart_defs.vh"
module uart_tx #(parameter DIVIDER = `DIVIDER) (
  input clk, input rst, input start, input [`DATA-1:0] data, output line, output busy
);
  reg [`DATA+`STOP_BITS:0] shift;
  reg [3:0] left;
  reg [7:0] count;
  assign busy = left != 0;
  assign line = busy ? shift[0] : `IDLE;
  always @(posedge clk)
    if (rst) begin
      left <= 0;
      count <= 0;
    end else if (!busy) begin
      count <= DIVIDER - 1;
      if (start) begin
        shift <= {{`STOP_BITS{`IDLE}}, data, 1'b0};
        left <= `DATA + `STOP_BITS + 1;
      end
    end else if (count != 0) count <= count - 1;
    else begin
      count <= DIVIDER - 1;
      shift <= {`IDLE, shift[`DATA+`STOP_BITS:1]};
      left <= left - 1;
    end
endmodule
