// Reads: every device has its own arbiter, so that hosts read different devices at once.
module axil_read_path
    import axil_pkg::*;
#(
    parameter int      HOSTS   = 2,
    parameter int      DEVICES = 3,
    parameter window_t WINDOWS [DEVICES] = '{default: '0}
) (
    input logic    clk,
    input logic    rst_n,
    input  addr_t [HOSTS-1:0] araddr,
    input  logic  [HOSTS-1:0] arvalid,
    output logic  [HOSTS-1:0] arready,
    output data_t [HOSTS-1:0] rdata,
    output resp_t [HOSTS-1:0] rresp,
    output logic  [HOSTS-1:0] rvalid,
    input  logic  [HOSTS-1:0] rready,
    output addr_t [DEVICES-1:0] m_araddr,
    output logic  [DEVICES-1:0] m_arvalid,
    input  logic  [DEVICES-1:0] m_arready,
    input  data_t [DEVICES-1:0] m_rdata,
    input  resp_t [DEVICES-1:0] m_rresp,
    input  logic  [DEVICES-1:0] m_rvalid,
    output logic  [DEVICES-1:0] m_rready
);
    logic  [DEVICES-1:0][HOSTS-1:0]         request;
    logic  [DEVICES-1:0]                    busy, done, valid, accepted;
    logic  [DEVICES-1:0][$clog2(HOSTS)-1:0] owner;

    for (genvar d = 0; d < DEVICES; d++) begin : g_device
        for (genvar h = 0; h < HOSTS; h++) begin : g_host
            assign request[d][h] = arvalid[h] && (araddr[h] & WINDOWS[d].mask) == WINDOWS[d].base;
        end

        round_robin #(.N(HOSTS)) arbiter (
            .clk, .rst_n, .request(request[d]), .done(done[d]), .busy(busy[d]), .owner(owner[d])
        );

        assign m_araddr[d]  = araddr[owner[d]];
        assign m_arvalid[d] = busy[d] & request[d][owner[d]] & ~accepted[d];
        assign m_rready[d]  = busy[d] & rready[owner[d]];
        assign valid[d]     = busy[d] & m_rvalid[d];
        assign done[d]      = valid[d] & rready[owner[d]];

        always_ff @(posedge clk or negedge rst_n)
            if (!rst_n) accepted[d] <= 1'b0;
            else if (done[d] || !busy[d]) accepted[d] <= 1'b0;
            else if (m_arvalid[d] && m_arready[d]) accepted[d] <= 1'b1;
    end

    always_comb
        for (int h = 0; h < HOSTS; h++) begin
            automatic logic is_mapped = 1'b0;
            rdata[h]   = '0;
            rresp[h]   = DECERR;
            rvalid[h]  = 1'b0;
            for (int d = 0; d < DEVICES; d++) begin
                is_mapped |= request[d][h];
                if (valid[d] && int'(owner[d]) == h) begin
                    rdata[h]  = m_rdata[d];
                    rresp[h]  = m_rresp[d];
                    rvalid[h] = 1'b1;
                end
            end
            if (arvalid[h] && !is_mapped) rvalid[h] = 1'b1;
            arready[h] = rvalid[h] & rready[h];
        end
endmodule : axil_read_path
