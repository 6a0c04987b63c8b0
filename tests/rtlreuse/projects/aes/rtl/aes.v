`include "aes_defs.vh"
`default_nettype none

module aes (
    input  wire         clk,
    input  wire         rst_n,
    input  wire         start,
    input  wire [127:0] key,
    input  wire [127:0] plain,
    output wire [127:0] cipher,
    output reg          done,
    output wire         busy
);
    localparam [1:0] IDLE = 2'b01, ROUND = 2'b10;

    reg [1:0]   fsm;
    reg [3:0]   round;
    reg [127:0] state, round_key;
    wire [127:0] next_state, next_key;

    wire is_last = round == `AES_ROUNDS;

    aes_key   u_key   (.round(round), .round_key(round_key), .next_key(next_key));
    aes_round u_round (.is_last(is_last), .state(state), .round_key(next_key), .next_state(next_state));

    assign cipher = state;
    assign busy   = fsm == ROUND;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            fsm   <= IDLE;
            round <= 4'd1;
            done  <= 1'b0;
        end else begin
            done <= 1'b0;
            case (fsm)
                IDLE: if (start) begin
                    fsm   <= ROUND;
                    round <= 4'd1;
                end
                ROUND: begin
                    round <= round + 4'd1;
                    if (is_last) begin
                        fsm  <= IDLE;
                        done <= 1'b1;
                    end
                end
                default: fsm <= IDLE;
            endcase
        end

    // The data path has no reset.
    always @(posedge clk)
        if (fsm == IDLE) begin
            if (start) begin
                state     <= plain ^ key;
                round_key <= key;
            end
        end else begin
            state     <= next_state;
            round_key <= next_key;
        end
endmodule

`default_nettype wire
