module plic_regs
  import plic_pkg::*;
#(
  parameter int unsigned N         = 8,
  parameter int unsigned Targets   = 2,
  parameter int unsigned PrioWidth = 3,
  localparam int unsigned IdWidth  = $clog2(N + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  req_t                 req_i,
  output rsp_t                 rsp_o,
  input  logic [N-1:0]         pending_i,
  input  logic [IdWidth-1:0]   id_i        [Targets],
  output logic [PrioWidth-1:0] prio_o      [N],
  output logic [N-1:0]         enable_o    [Targets],
  output logic [PrioWidth-1:0] threshold_o [Targets],
  output logic [N-1:0]         claim_o,
  output logic [N-1:0]         complete_o
);
  logic [PrioWidth-1:0] prio_q [N], threshold_q [Targets];
  logic [N-1:0] enable_q [Targets];

  wire [3:0] word  = index(req_i.addr);
  wire       read  = req_i.valid & ~req_i.write;
  wire       write = req_i.valid & req_i.write;

  // Index 0 of the priorities is source 1; source 0 does not exist.
  always_comb begin : p_read
    rsp_o      = '{ready: 1'b1, error: 1'b0, rdata: '0};
    claim_o    = '0;
    complete_o = '0;
    unique case (region(req_i.addr))
      RegionPriority:
        if (word inside {[1:N]}) rsp_o.rdata = 32'(prio_q[word-1]);
      RegionPending:   rsp_o.rdata = 32'({pending_i, 1'b0});
      RegionEnable:    if (word < Targets) rsp_o.rdata = 32'({enable_q[word], 1'b0});
      RegionThreshold: if (word < Targets) rsp_o.rdata = 32'(threshold_q[word]);
      RegionClaim:
        if (word < Targets) begin
          rsp_o.rdata = 32'(id_i[word]);
          if (read && id_i[word] != 0) claim_o[id_i[word]-1] = 1'b1;
          if (write && req_i.wdata >= 1 && req_i.wdata <= N) complete_o[req_i.wdata-1] = 1'b1;
        end
      default: rsp_o.error = req_i.valid;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_write
    if (!rst_ni) begin
      prio_q      <= '{default: '0};
      enable_q    <= '{default: '0};
      threshold_q <= '{default: '0};
    end else if (write) begin
      case (region(req_i.addr))
        RegionPriority:  if (word inside {[1:N]}) prio_q[word-1] <= req_i.wdata[PrioWidth-1:0];
        RegionEnable:    if (word < Targets) enable_q[word] <= req_i.wdata[N:1];
        RegionThreshold: if (word < Targets) threshold_q[word] <= req_i.wdata[PrioWidth-1:0];
        default: ;
      endcase
    end
  end

  assign prio_o      = prio_q;
  assign enable_o    = enable_q;
  assign threshold_o = threshold_q;
endmodule
