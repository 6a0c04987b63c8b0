`ifndef AES_DEFS_VH
`define AES_DEFS_VH

// Byte 0 of FIPS-197 is the most significant byte of a block.
`define AES_BYTE(block, n) block[127-8*(n) -: 8]
`define AES_ROUNDS 10

`endif
