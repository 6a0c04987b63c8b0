`ifndef WIDTHS
`define WIDTHS
`define DATA 8
`ifdef FAST
`define DIVIDER 2
`else
`define DIVIDER 4
`endif
`endif
