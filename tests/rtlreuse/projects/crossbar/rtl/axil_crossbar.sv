module axil_crossbar
    import axil_pkg::*;
#(
    parameter int      HOSTS   = 2,
    parameter int      DEVICES = 3,
    parameter window_t WINDOWS [DEVICES] = '{default: '0}
) (
    input logic    clk,
    input logic    rst_n,
    axil_if.device host   [HOSTS],
    axil_if.host   device [DEVICES]
);
    addr_t [HOSTS-1:0] awaddr, araddr;
    data_t [HOSTS-1:0] wdata, rdata;
    strb_t [HOSTS-1:0] wstrb;
    resp_t [HOSTS-1:0] rresp;
    logic  [HOSTS-1:0] awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    resp_t             bresp;

    addr_t               m_awaddr;
    addr_t [DEVICES-1:0] m_araddr;
    data_t               m_wdata;
    data_t [DEVICES-1:0] m_rdata;
    strb_t               m_wstrb;
    resp_t [DEVICES-1:0] m_bresp, m_rresp;
    logic  [DEVICES-1:0] m_awvalid, m_awready, m_wvalid, m_wready, m_bvalid, m_bready;
    logic  [DEVICES-1:0] m_arvalid, m_arready, m_rvalid, m_rready;

    for (genvar h = 0; h < HOSTS; h++) begin : g_host
        assign awaddr[h]       = host[h].awaddr;
        assign awvalid[h]      = host[h].awvalid;
        assign host[h].awready = awready[h];
        assign wdata[h]        = host[h].wdata;
        assign wstrb[h]        = host[h].wstrb;
        assign wvalid[h]       = host[h].wvalid;
        assign host[h].wready  = wready[h];
        assign host[h].bresp   = bresp;
        assign host[h].bvalid  = bvalid[h];
        assign bready[h]       = host[h].bready;
        assign araddr[h]       = host[h].araddr;
        assign arvalid[h]      = host[h].arvalid;
        assign host[h].arready = arready[h];
        assign host[h].rdata   = rdata[h];
        assign host[h].rresp   = rresp[h];
        assign host[h].rvalid  = rvalid[h];
        assign rready[h]       = host[h].rready;
    end

    for (genvar d = 0; d < DEVICES; d++) begin : g_device
        assign device[d].awaddr  = m_awaddr;
        assign device[d].awvalid = m_awvalid[d];
        assign m_awready[d]      = device[d].awready;
        assign device[d].wdata   = m_wdata;
        assign device[d].wstrb   = m_wstrb;
        assign device[d].wvalid  = m_wvalid[d];
        assign m_wready[d]       = device[d].wready;
        assign m_bresp[d]        = device[d].bresp;
        assign m_bvalid[d]       = device[d].bvalid;
        assign device[d].bready  = m_bready[d];
        assign device[d].araddr  = m_araddr[d];
        assign device[d].arvalid = m_arvalid[d];
        assign m_arready[d]      = device[d].arready;
        assign m_rdata[d]        = device[d].rdata;
        assign m_rresp[d]        = device[d].rresp;
        assign m_rvalid[d]       = device[d].rvalid;
        assign device[d].rready  = m_rready[d];
    end

    axil_write_path #(.HOSTS(HOSTS), .DEVICES(DEVICES), .WINDOWS(WINDOWS)) writes (.*);
    axil_read_path #(.HOSTS(HOSTS), .DEVICES(DEVICES), .WINDOWS(WINDOWS)) reads (.*);
endmodule : axil_crossbar
