// Four lookups of the substitution table side by side.
module aes_sbox #(
    parameter TABLE = "tables/sbox.hex"
) (
    input  wire [31:0] word,
    output wire [31:0] substituted
);
    reg [7:0] table_rom [0:255];
    initial $readmemh(TABLE, table_rom);

    assign substituted = {
        table_rom[word[31:24]], table_rom[word[23:16]],
        table_rom[word[15:8]],  table_rom[word[7:0]]
    };
endmodule
