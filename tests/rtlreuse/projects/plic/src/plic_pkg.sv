package plic_pkg;
  localparam int unsigned AddrWidth = 10;

  typedef enum logic [3:0] {
    RegionPriority  = 4'h0,
    RegionPending   = 4'h1,
    RegionEnable    = 4'h2,
    RegionThreshold = 4'h3,
    RegionClaim     = 4'h4
  } region_e;

  typedef struct packed {
    logic                 valid;
    logic                 write;
    logic [AddrWidth-1:0] addr;
    logic [31:0]          wdata;
  } req_t;

  typedef struct packed {
    logic        ready;
    logic        error;
    logic [31:0] rdata;
  } rsp_t;

  // The region of an address: its four highest bits.
  function automatic region_e region(input logic [AddrWidth-1:0] addr);
    return region_e'(addr[AddrWidth-1-:4]);
  endfunction

  // The index of a word in its region.
  function automatic logic [3:0] index(input logic [AddrWidth-1:0] addr);
    return addr[5:2];
  endfunction
endpackage
