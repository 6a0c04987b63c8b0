// The key of the next round from that of this one (FIPS-197, 5.2).
module aes_key (
    input  wire [3:0]   round,     // 1 to 10: the round of next_key
    input  wire [127:0] round_key,
    output wire [127:0] next_key
);
    reg [7:0] rcon [1:10];
    initial $readmemh("tables/rcon.hex", rcon);

    wire [31:0] w0, w1, w2, w3, rotated;
    assign {w0, w1, w2, w3} = round_key;

    aes_sbox sbox (.word({w3[23:0], w3[31:24]}), .substituted(rotated));

    wire [31:0] n0 = w0 ^ rotated ^ {rcon[round], 24'h0};
    wire [31:0] n1 = w1 ^ n0;
    wire [31:0] n2 = w2 ^ n1;
    wire [31:0] n3 = w3 ^ n2;
    assign next_key = {n0, n1, n2, n3};
endmodule
