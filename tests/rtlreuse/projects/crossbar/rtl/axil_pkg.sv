package axil_pkg;

    parameter int ADDR = 12;
    parameter int DATA = 32;

    typedef logic [ADDR-1:0]   addr_t;
    typedef logic [DATA-1:0]   data_t;
    typedef logic [DATA/8-1:0] strb_t;

    typedef enum logic [1:0] {
        OKAY   = 2'b00,
        SLVERR = 2'b10,
        DECERR = 2'b11
    } resp_t;

    typedef struct packed {
        addr_t base;
        addr_t mask;
    } window_t;

endpackage : axil_pkg
