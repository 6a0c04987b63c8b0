// The core with its extension interface as ports; values of a coprocessor come from outside.
module cv32e40x_top (
  input logic clk_i,
  input logic rst_ni,
  input logic scan_cg_en_i,
  input logic [31:0] boot_addr_i,
  input logic [31:0] dm_exception_addr_i,
  input logic [31:0] dm_halt_addr_i,
  input logic [31:0] mhartid_i,
  input logic [3:0] mimpid_patch_i,
  input logic [31:0] mtvec_addr_i,
  output logic instr_req_o,
  input logic instr_gnt_i,
  input logic instr_rvalid_i,
  output logic [31:0] instr_addr_o,
  output logic [1:0] instr_memtype_o,
  output logic [2:0] instr_prot_o,
  output logic instr_dbg_o,
  input logic [31:0] instr_rdata_i,
  input logic instr_err_i,
  output logic data_req_o,
  input logic data_gnt_i,
  input logic data_rvalid_i,
  output logic [31:0] data_addr_o,
  output logic [3:0] data_be_o,
  output logic data_we_o,
  output logic [31:0] data_wdata_o,
  output logic [1:0] data_memtype_o,
  output logic [2:0] data_prot_o,
  output logic data_dbg_o,
  output logic [5:0] data_atop_o,
  input logic [31:0] data_rdata_i,
  input logic data_err_i,
  input logic data_exokay_i,
  output logic [63:0] mcycle_o,
  input logic [31:0] irq_i,
  input logic wu_wfe_i,
  input logic clic_irq_i,
  input logic [4:0] clic_irq_id_i,
  input logic [ 7:0] clic_irq_level_i,
  input logic [ 1:0] clic_irq_priv_i,
  input logic clic_irq_shv_i,
  output logic fencei_flush_req_o,
  input logic fencei_flush_ack_i,
  input logic debug_req_i,
  output logic debug_havereset_o,
  output logic debug_running_o,
  output logic debug_halted_o,
  input logic fetch_enable_i,
  output logic core_sleep_o,
  input logic xif_compressed_ready_i,
  input logic [32:0] xif_compressed_resp_i,
  input logic xif_issue_ready_i,
  input logic [8:0] xif_issue_resp_i,
  input logic xif_mem_valid_i,
  input logic [81:0] xif_mem_req_i,
  input logic xif_result_valid_i,
  input logic [59:0] xif_result_i,
  output logic xif_compressed_valid_o,
  output logic [21:0] xif_compressed_req_o,
  output logic xif_issue_valid_o,
  output logic [110:0] xif_issue_req_o,
  output logic xif_commit_valid_o,
  output logic [4:0] xif_commit_o,
  output logic xif_mem_ready_o,
  output logic [7:0] xif_mem_resp_o,
  output logic xif_mem_result_valid_o,
  output logic [37:0] xif_mem_result_o,
  output logic xif_result_ready_o
);
  if_xif xif ();
  assign xif.compressed_ready = xif_compressed_ready_i;
  assign xif.compressed_resp = xif_compressed_resp_i;
  assign xif.issue_ready = xif_issue_ready_i;
  assign xif.issue_resp = xif_issue_resp_i;
  assign xif.mem_valid = xif_mem_valid_i;
  assign xif.mem_req = xif_mem_req_i;
  assign xif.result_valid = xif_result_valid_i;
  assign xif.result = xif_result_i;
  assign xif_compressed_valid_o = xif.compressed_valid;
  assign xif_compressed_req_o = xif.compressed_req;
  assign xif_issue_valid_o = xif.issue_valid;
  assign xif_issue_req_o = xif.issue_req;
  assign xif_commit_valid_o = xif.commit_valid;
  assign xif_commit_o = xif.commit;
  assign xif_mem_ready_o = xif.mem_ready;
  assign xif_mem_resp_o = xif.mem_resp;
  assign xif_mem_result_valid_o = xif.mem_result_valid;
  assign xif_mem_result_o = xif.mem_result;
  assign xif_result_ready_o = xif.result_ready;
  cv32e40x_core #(.X_EXT(1)) core (.*,
    .xif_compressed_if(xif),
    .xif_issue_if(xif),
    .xif_commit_if(xif),
    .xif_mem_if(xif),
    .xif_mem_result_if(xif),
    .xif_result_if(xif));
endmodule
