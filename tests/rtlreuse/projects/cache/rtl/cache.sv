module cache
  import cache_pkg::*;
#(
    parameter int unsigned Ways = 2,
    parameter Image = "memory/main.hex"
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [Tag+$clog2(Lines)-1:0] address_i,
    input logic read_i,
    output logic [31:0] data_o,
    output logic hit_o,
    output logic [15:0] hits_o[2],
    output logic [Ways-1:0] way_o
);
  localparam int unsigned Index = $clog2(Lines);
  line_t lines[Ways][Lines];
  logic [31:0] main[1024];
  logic [Ways-1:0] same;
  logic [$clog2(Ways)-1:0] victim;
  wire [Index-1:0] index = address_i[Index-1:0];
  wire [Tag-1:0] tag = address_i[Index+:Tag];

  initial $readmemh(Image, main);

  for (genvar w = 0; w < Ways; w++) begin : g_way
    assign same[w] = lines[w][index].valid && lines[w][index].tag == tag;
  end
  assign hit_o = |same;
  assign way_o = same;
  always_comb begin
    data_o = main[address_i];
    for (int w = 0; w < Ways; w++) if (same[w]) data_o = lines[w][index].data;
  end

  replacement #(.Ways(Ways)) u_replacement (.clk_i, .rst_ni, .use_i(read_i && !hit_o), .victim_o(victim));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int w = 0; w < Ways; w++) for (int i = 0; i < Lines; i++) lines[w][i] <= '0;
      hits_o[0] <= 0;
      hits_o[1] <= 0;
    end else if (read_i) begin
      hits_o[hit_o] <= hits_o[hit_o] + 1;
      if (!hit_o) lines[victim][index] <= '{valid: 1'b1, tag: tag, data: main[address_i]};
    end
  end
endmodule
