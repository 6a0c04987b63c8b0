`ifndef GRAY
`define GRAY(x) ((x) ^ ((x) >> 1))
`endif
