// Grants one request at a time; a grant stays until it is done.
module round_robin #(
    parameter int N = 2
) (
    input  logic                 clk,
    input  logic                 rst_n,
    input  logic [N-1:0]         request,
    input  logic                 done,
    output logic                 busy,
    output logic [$clog2(N)-1:0] owner
);
    typedef logic [$clog2(N)-1:0] owner_t;

    owner_t next;

    always_comb begin
        next = owner;
        for (int i = N - 1; i >= 0; i--) begin
            automatic int candidate = (int'(owner) + 1 + i) % N;
            if (request[candidate]) next = owner_t'(candidate);
        end
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            busy  <= 1'b0;
            owner <= '0;
        end else if (busy) begin
            if (done) busy <= 1'b0;
        end else if (|request) begin
            busy  <= 1'b1;
            owner <= next;
        end
    end
endmodule : round_robin
