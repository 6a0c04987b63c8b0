// A device: a memory that answers after some cycles and refuses writes of its last word.
module axil_memory
    import axil_pkg::*;
#(
    parameter int WORDS = 16,
    parameter int WAIT  = 1
) (
    input logic    clk,
    input logic    rst_n,
    axil_if.device bus
);
    localparam int INDEX = $clog2(WORDS);

    data_t             words [WORDS];
    logic [2:0]        waiting;
    logic              has_address, has_data;
    logic [INDEX-1:0]  write_index, read_index;
    data_t             write_data;
    strb_t             write_strb;

    initial for (int i = 0; i < WORDS; i++) words[i] = 32'(i) * 32'h0101_0101;

    assign bus.awready = ~has_address;
    assign bus.wready  = ~has_data;
    assign bus.arready = waiting == 0 && !bus.rvalid;
    assign bus.bresp   = write_index == INDEX'(WORDS - 1) ? SLVERR : OKAY;
    assign bus.bvalid  = has_address & has_data;
    assign bus.rdata   = words[read_index];
    assign bus.rresp   = OKAY;

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            has_address <= 1'b0;
            has_data    <= 1'b0;
            waiting     <= '0;
            bus.rvalid  <= 1'b0;
        end else begin
            if (bus.awvalid && bus.awready) has_address <= 1'b1;
            if (bus.wvalid && bus.wready) has_data <= 1'b1;
            if (bus.bvalid && bus.bready) {has_address, has_data} <= '0;
            if (bus.arvalid && bus.arready) waiting <= 3'(WAIT);
            else if (waiting != 0) begin
                waiting <= waiting - 1'b1;
                if (waiting == 1) bus.rvalid <= 1'b1;
            end
            if (bus.rvalid && bus.rready) bus.rvalid <= 1'b0;
        end

    always_ff @(posedge clk) begin
        if (bus.awvalid && bus.awready) write_index <= bus.awaddr[2+:INDEX];
        if (bus.wvalid && bus.wready) {write_data, write_strb} <= {bus.wdata, bus.wstrb};
        if (bus.arvalid && bus.arready) read_index <= bus.araddr[2+:INDEX];
        if (bus.bvalid && bus.bready && bus.bresp == OKAY)
            for (int b = 0; b < DATA / 8; b++)
                if (write_strb[b]) words[write_index][8*b+:8] <= write_data[8*b+:8];
    end
endmodule : axil_memory
