// Writes of all hosts to all devices, one at a time.
module axil_write_path
    import axil_pkg::*;
#(
    parameter int      HOSTS   = 2,
    parameter int      DEVICES = 3,
    parameter window_t WINDOWS [DEVICES] = '{default: '0}
) (
    input logic    clk,
    input logic    rst_n,
    // of hosts
    input  addr_t [HOSTS-1:0] awaddr,
    input  logic  [HOSTS-1:0] awvalid,
    output logic  [HOSTS-1:0] awready,
    input  data_t [HOSTS-1:0] wdata,
    input  strb_t [HOSTS-1:0] wstrb,
    input  logic  [HOSTS-1:0] wvalid,
    output logic  [HOSTS-1:0] wready,
    output resp_t             bresp,
    output logic  [HOSTS-1:0] bvalid,
    input  logic  [HOSTS-1:0] bready,
    // to devices
    output addr_t               m_awaddr,
    output logic  [DEVICES-1:0] m_awvalid,
    input  logic  [DEVICES-1:0] m_awready,
    output data_t               m_wdata,
    output strb_t               m_wstrb,
    output logic  [DEVICES-1:0] m_wvalid,
    input  logic  [DEVICES-1:0] m_wready,
    input  resp_t [DEVICES-1:0] m_bresp,
    input  logic  [DEVICES-1:0] m_bvalid,
    output logic  [DEVICES-1:0] m_bready
);
    logic                     busy, done, sent_address, sent_data;
    logic [$clog2(HOSTS)-1:0] owner;
    logic [DEVICES-1:0]       chosen;
    logic                     is_mapped;

    round_robin #(.N(HOSTS)) arbiter (
        .clk, .rst_n, .request(awvalid & wvalid), .done, .busy, .owner
    );

    always_comb begin
        for (int d = 0; d < DEVICES; d++)
            chosen[d] = (awaddr[owner] & WINDOWS[d].mask) == WINDOWS[d].base;
        is_mapped = |chosen;
    end

    assign m_awaddr  = awaddr[owner];
    assign m_wdata   = wdata[owner];
    assign m_wstrb   = wstrb[owner];
    assign m_awvalid = busy & ~sent_address ? chosen : '0;
    assign m_wvalid  = busy & ~sent_data ? chosen : '0;
    assign m_bready  = busy & bready[owner] ? chosen : '0;
    assign done      = busy & bready[owner] & (is_mapped ? |(chosen & m_bvalid) : 1'b1);

    always_comb begin
        bresp = DECERR;
        for (int d = 0; d < DEVICES; d++)
            if (chosen[d]) bresp = m_bresp[d];
        bvalid         = '0;
        bvalid[owner]  = busy & (is_mapped ? |(chosen & m_bvalid) : 1'b1);
        // The host keeps address and data until the answer.
        awready        = '0;
        wready         = '0;
        awready[owner] = done;
        wready[owner]  = done;
    end

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) {sent_address, sent_data} <= 2'b00;
        else if (!busy || done) {sent_address, sent_data} <= 2'b00;
        else begin
            sent_address <= sent_address | (|(m_awvalid & m_awready));
            sent_data    <= sent_data | (|(m_wvalid & m_wready));
        end
endmodule : axil_write_path
