// Two hosts by ports, three memories inside.
module crossbar
    import axil_pkg::*;
#(
    parameter int HOSTS = 2
) (
    input  logic  clk,
    input  logic  rst_n,
    input  addr_t awaddr  [HOSTS],
    input  logic  awvalid [HOSTS],
    output logic  awready [HOSTS],
    input  data_t wdata   [HOSTS],
    input  strb_t wstrb   [HOSTS],
    input  logic  wvalid  [HOSTS],
    output logic  wready  [HOSTS],
    output resp_t bresp   [HOSTS],
    output logic  bvalid  [HOSTS],
    input  logic  bready  [HOSTS],
    input  addr_t araddr  [HOSTS],
    input  logic  arvalid [HOSTS],
    output logic  arready [HOSTS],
    output data_t rdata   [HOSTS],
    output resp_t rresp   [HOSTS],
    output logic  rvalid  [HOSTS],
    input  logic  rready  [HOSTS]
);
    localparam int DEVICES = 3;
    localparam window_t WINDOWS [DEVICES] = '{
        '{base: 12'h000, mask: 12'hc00},
        '{base: 12'h400, mask: 12'hc00},
        '{base: 12'h800, mask: 12'hfc0}
    };

    axil_if hosts [HOSTS] ();
    axil_if devices [DEVICES] ();

    for (genvar h = 0; h < HOSTS; h++) begin : g_host
        assign hosts[h].awaddr  = awaddr[h];
        assign hosts[h].awvalid = awvalid[h];
        assign awready[h]       = hosts[h].awready;
        assign hosts[h].wdata   = wdata[h];
        assign hosts[h].wstrb   = wstrb[h];
        assign hosts[h].wvalid  = wvalid[h];
        assign wready[h]        = hosts[h].wready;
        assign bresp[h]         = hosts[h].bresp;
        assign bvalid[h]        = hosts[h].bvalid;
        assign hosts[h].bready  = bready[h];
        assign hosts[h].araddr  = araddr[h];
        assign hosts[h].arvalid = arvalid[h];
        assign arready[h]       = hosts[h].arready;
        assign rdata[h]         = hosts[h].rdata;
        assign rresp[h]         = hosts[h].rresp;
        assign rvalid[h]        = hosts[h].rvalid;
        assign hosts[h].rready  = rready[h];
    end

    axil_crossbar #(.HOSTS(HOSTS), .DEVICES(DEVICES), .WINDOWS(WINDOWS)) xbar (
        .clk, .rst_n, .host(hosts), .device(devices)
    );

    for (genvar d = 0; d < DEVICES; d++) begin : g_device
        axil_memory #(.WORDS(8 << d), .WAIT(d + 1)) memory (.clk, .rst_n, .bus(devices[d]));
    end
endmodule : crossbar
