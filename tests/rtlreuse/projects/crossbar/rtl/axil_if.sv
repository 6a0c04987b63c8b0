interface axil_if;
    import axil_pkg::*;

    addr_t awaddr;
    logic  awvalid, awready;
    data_t wdata;
    strb_t wstrb;
    logic  wvalid, wready;
    resp_t bresp;
    logic  bvalid, bready;
    addr_t araddr;
    logic  arvalid, arready;
    data_t rdata;
    resp_t rresp;
    logic  rvalid, rready;

    modport host (
        output awaddr, awvalid, wdata, wstrb, wvalid, bready, araddr, arvalid, rready,
        input  awready, wready, bresp, bvalid, arready, rdata, rresp, rvalid
    );
    modport device (
        input  awaddr, awvalid, wdata, wstrb, wvalid, bready, araddr, arvalid, rready,
        output awready, wready, bresp, bvalid, arready, rdata, rresp, rvalid
    );
endinterface : axil_if
