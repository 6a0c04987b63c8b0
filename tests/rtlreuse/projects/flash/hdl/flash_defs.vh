`ifndef FLASH_DEFS
`define FLASH_DEFS
`ifdef FAST_READ
  `define READ       8'h0b
  `define DUMMY_BITS 6'd8
`else
  `define READ       8'h03
  `define DUMMY_BITS 6'd0
`endif
`define READ_STATUS  8'h05
`define S_IDLE    3'd0
`define S_COMMAND 3'd1
`define S_DUMMY   3'd2
`define S_DATA    3'd3
`define S_DONE    3'd4
`endif
