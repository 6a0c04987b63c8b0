`ifndef UART_DEFS
`define UART_DEFS
`include "widths.vh"
`define IDLE 1'b1
`define STOP_BITS 1
`endif
