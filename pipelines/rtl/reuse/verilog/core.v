// RV32IM, two stages: fetch, then decode and execute. Divisions take 34 cycles. Data addresses from 0x10000 on are
// the interface `io`. A traced instruction shows its address, register and value.
module core #(parameter ID = 0) (
    input clk, input rst, output [31:0] retired_pc, output [4:0] retired_rd, output [31:0] retired_value,
    output retired, output io_write, output [31:0] io_address, output [31:0] io_data, input [31:0] io_read);
  reg [31:0] code [0:@CODE@-1];
  reg [31:0] data [0:@DATA@-1];
  reg [31:0] regs [0:31];
  initial begin
@IMAGE@
  end

  reg [31:0] pc, instr_pc, instr;
  reg is_valid;
  wire [6:0] opcode = instr[6:0];
  wire [2:0] f3 = instr[14:12];
  wire [4:0] rd = instr[11:7], rs1 = instr[19:15], rs2 = instr[24:20];
  wire [31:0] i_imm = {{20{instr[31]}}, instr[31:20]};
  wire [31:0] s_imm = {{20{instr[31]}}, instr[31:25], instr[11:7]};
  wire [31:0] b_imm = {{20{instr[31]}}, instr[7], instr[30:25], instr[11:8], 1'b0};
  wire [31:0] j_imm = {{12{instr[31]}}, instr[19:12], instr[20], instr[30:21], 1'b0};
  wire [31:0] x = rs1 == 0 ? 0 : regs[rs1], y = rs2 == 0 ? 0 : regs[rs2];
  wire is_op = opcode == 7'h33, is_imm = opcode == 7'h13, is_load = opcode == 7'h03, is_store = opcode == 7'h23;
  wire is_branch = opcode == 7'h63, is_jal = opcode == 7'h6f, is_jalr = opcode == 7'h67;
  wire is_lui = opcode == 7'h37, is_auipc = opcode == 7'h17;
  wire is_m = is_op && instr[25], is_division = is_m && f3[2];

  // Arithmetic.
  wire [31:0] b = is_op ? y : i_imm;
  wire signed [31:0] arithmetic_right = $signed(x) >>> b[4:0];
  wire [31:0] shifted_right = instr[30] ? arithmetic_right : x >> b[4:0];
  reg [31:0] result;
  always @* case (f3)
    3'd0: result = is_op && instr[30] ? x - y : x + b;
    3'd1: result = x << b[4:0];
    3'd2: result = {31'd0, $signed(x) < $signed(b)};
    3'd3: result = {31'd0, x < b};
    3'd4: result = x ^ b;
    3'd5: result = shifted_right;
    3'd6: result = x | b;
    default: result = x & b;
  endcase
  wire [63:0] product = {{32{x[31] & (f3 == 3'd1 || f3 == 3'd2)}}, x} * {{32{y[31] & (f3 == 3'd1)}}, y};

  // Division, one bit per cycle.
  reg [5:0] steps;
  reg [31:0] quotient, remainder, divisor;
  wire is_signed = !f3[0];
  wire [31:0] abs_x = is_signed && x[31] ? -x : x, abs_y = is_signed && y[31] ? -y : y;
  wire [32:0] trial = {remainder, quotient[31]} - {1'b0, divisor};
  wire is_waiting = is_valid && is_division && steps != 33;
  wire [31:0] divided = y == 0 ? 32'hffffffff : is_signed && (x[31] ^ y[31]) ? -quotient : quotient;
  wire [31:0] left = is_signed && x[31] ? -remainder : remainder;
  always @(posedge clk)
    if (rst || !is_waiting) steps <= 0;
    else begin
      steps <= steps + 1;
      if (steps == 0) begin
        quotient <= abs_x;
        remainder <= 0;
        divisor <= abs_y;
      end else begin
        quotient <= {quotient[30:0], ~trial[32]};
        remainder <= trial[32] ? {remainder[30:0], quotient[31]} : trial[31:0];
      end
    end

  // Memory.
  wire [31:0] address = x + (is_store ? s_imm : i_imm);
  wire is_io = address[31:16] != 0;
  wire [31:0] word = is_io ? io_read : data[address[31:2] & (@DATA@ - 1)];
  wire [31:0] aligned = word >> {address[1:0], 3'd0};
  reg [31:0] loaded;
  always @* case (f3)
    3'd0: loaded = {{24{aligned[7]}}, aligned[7:0]};
    3'd1: loaded = {{16{aligned[15]}}, aligned[15:0]};
    3'd4: loaded = {24'd0, aligned[7:0]};
    3'd5: loaded = {16'd0, aligned[15:0]};
    default: loaded = word;
  endcase
  wire [31:0] bits = (f3 == 0 ? 32'hff : f3 == 1 ? 32'hffff : 32'hffffffff) << {address[1:0], 3'd0};
  wire [31:0] stored = y << {address[1:0], 3'd0};
  assign io_write = is_valid && is_store && is_io;
  assign io_address = address;
  assign io_data = y;

  // Next instruction.
  wire is_less = f3[1] ? x < y : $signed(x) < $signed(y);
  wire is_taken = is_branch && ((f3[2] ? is_less : x == y) ^ f3[0]);
  wire is_jump = is_valid && (is_taken || is_jal || is_jalr);
  wire [31:0] target = is_jalr ? (x + i_imm) & ~32'd1 : instr_pc + (is_jal ? j_imm : b_imm);
  wire [31:0] value = is_lui ? {instr[31:12], 12'd0} : is_auipc ? instr_pc + {instr[31:12], 12'd0}
    : is_jal || is_jalr ? instr_pc + 4 : is_load ? loaded
    : !is_m ? result : !f3[2] ? (f3 == 0 ? product[31:0] : product[63:32]) : f3[1] ? left : divided;
  wire is_written = is_valid && !is_waiting && !is_store && !is_branch && rd != 0;
  always @(posedge clk) begin
    if (rst) begin
      pc <= 0;
      is_valid <= 0;
    end else if (!is_waiting) begin
      pc <= is_jump ? target : pc + 4;
      instr <= code[pc[31:2] & (@CODE@ - 1)];
      instr_pc <= pc;
      is_valid <= !is_jump;
    end
    if (is_written) regs[rd] <= value;
    if (is_valid && is_store && !is_io)
      data[address[31:2] & (@DATA@ - 1)] <= (data[address[31:2] & (@DATA@ - 1)] & ~bits) | (stored & bits);
  end
  assign retired = is_valid && !is_waiting;
  assign retired_pc = instr_pc;
  assign retired_rd = is_written ? rd : 0;
  assign retired_value = is_written ? value : 0;
endmodule
