// Gateways: a source asks once, and again after its interrupt is complete.
module plic_gateway #(
  parameter int unsigned        N      = 8,
  parameter logic       [N-1:0] IsEdge = '0
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [N-1:0] source_i,
  input  logic [N-1:0] claim_i,
  input  logic [N-1:0] complete_i,
  output logic [N-1:0] pending_o
);
  `include "plic_registers.svh"

  logic [N-1:0] source_q, set, pending_d, pending_q, active_d, active_q;

  always_comb begin
    for (int unsigned i = 0; i < N; i++) begin
      set[i] = IsEdge[i] ? source_i[i] & ~source_q[i] : source_i[i];
    end
    pending_d = (pending_q | (set & ~active_q & ~pending_q)) & ~(pending_q & claim_i);
    active_d  = (active_q | (set & ~active_q)) & ~(active_q & complete_i & ~pending_q);
  end

  `FF(source_q, source_i, '0)
  `FF(pending_q, pending_d, '0)
  `FF(active_q, active_d, '0)

  assign pending_o = pending_q;
endmodule
