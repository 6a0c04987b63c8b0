// The enabled source of the highest priority above the threshold; the lowest number among equals.
module plic_target #(
  parameter int unsigned N         = 8,
  parameter int unsigned PrioWidth = 3,
  localparam int unsigned IdWidth  = $clog2(N + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [N-1:0]         pending_i,
  input  logic [N-1:0]         enable_i,
  input  logic [PrioWidth-1:0] prio_i      [N],
  input  logic [PrioWidth-1:0] threshold_i,
  output logic                 irq_o,
  output logic [IdWidth-1:0]   id_o
);
  `include "plic_registers.svh"

  logic [PrioWidth-1:0] best;
  logic [IdWidth-1:0]   id_d, id_q;
  logic                 irq_q;

  always_comb begin : p_highest
    best = threshold_i;
    id_d = '0;
    for (int i = N - 1; i >= 0; i--) begin
      if (pending_i[i] && enable_i[i] && (prio_i[i] > best || (id_d != 0 && prio_i[i] == best))) begin
        best = prio_i[i];
        id_d = IdWidth'(i + 1);
      end
    end
  end

  `FF(id_q, id_d, '0)
  `FF(irq_q, id_d != 0, 1'b0)

  assign irq_o = irq_q;
  assign id_o  = id_q;
endmodule
