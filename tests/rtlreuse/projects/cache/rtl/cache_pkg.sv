package cache_pkg;
  parameter int unsigned Lines = 16;
  parameter int unsigned Tag = 6;
  typedef struct packed {
    logic valid;
    logic [Tag-1:0] tag;
    logic [31:0] data;
  } line_t;
endpackage
