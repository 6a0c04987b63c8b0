`include "aes_defs.vh"
// One round of encryption: substitute bytes, shift rows, mix columns, add the key.
module aes_round (
    input  wire         is_last,   // the last round does not mix columns
    input  wire [127:0] state,
    input  wire [127:0] round_key,
    output wire [127:0] next_state
);
    wire [127:0] substituted, shifted, mixed;

    function [7:0] xtime;
        input [7:0] b;
        xtime = {b[6:0], 1'b0} ^ (8'h1b & {8{b[7]}});
    endfunction

    function [31:0] mix_column;
        input [31:0] column;
        reg [7:0] a, b, c, d, all;
        begin
            {a, b, c, d} = column;
            all = a ^ b ^ c ^ d;
            mix_column = {
                a ^ all ^ xtime(a ^ b), b ^ all ^ xtime(b ^ c),
                c ^ all ^ xtime(c ^ d), d ^ all ^ xtime(d ^ a)
            };
        end
    endfunction

    genvar column, row;
    generate
        for (column = 0; column < 4; column = column + 1) begin : g_column
            aes_sbox sbox (
                .word       (state[127-32*column -: 32]),
                .substituted(substituted[127-32*column -: 32])
            );
            for (row = 0; row < 4; row = row + 1) begin : g_row
                assign `AES_BYTE(shifted, 4*column + row) =
                    `AES_BYTE(substituted, 4*((column + row) % 4) + row);
            end
            assign mixed[127-32*column -: 32] = mix_column(shifted[127-32*column -: 32]);
        end
    endgenerate

    assign next_state = (is_last ? shifted : mixed) ^ round_key;
endmodule
