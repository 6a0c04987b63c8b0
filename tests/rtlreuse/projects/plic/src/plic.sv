module plic
  import plic_pkg::*;
#(
  parameter int unsigned        N         = 12,
  parameter int unsigned        Targets   = 2,
  parameter int unsigned        PrioWidth = 3,
  parameter logic       [N-1:0] IsEdge    = {N{3'b110}}
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [N-1:0]           source_i,
  input  req_t                   req_i,
  output rsp_t                   rsp_o,
  output logic [Targets-1:0]     irq_o,
  output logic [$clog2(N+1)-1:0] id_o [Targets]
);
  logic [N-1:0]         pending, claim, complete;
  logic [PrioWidth-1:0] prio [N], threshold [Targets];
  logic [N-1:0]         enable [Targets];

  plic_gateway #(.N(N), .IsEdge(IsEdge)) i_gateway (
    .clk_i, .rst_ni, .source_i,
    .claim_i(claim), .complete_i(complete), .pending_o(pending)
  );

  plic_regs #(.N(N), .Targets(Targets), .PrioWidth(PrioWidth)) i_regs (
    .pending_i(pending), .id_i(id_o), .prio_o(prio), .enable_o(enable), .threshold_o(threshold),
    .claim_o(claim), .complete_o(complete), .*
  );

  for (genvar t = 0; t < Targets; t++) begin : gen_target
    plic_target #(.N(N), .PrioWidth(PrioWidth)) i_target (
      .clk_i, .rst_ni, .pending_i(pending), .enable_i(enable[t]), .prio_i(prio),
      .threshold_i(threshold[t]), .irq_o(irq_o[t]), .id_o(id_o[t])
    );
  end
endmodule
