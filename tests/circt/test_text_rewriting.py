"""Calyx, Handshake and Verilog text between the passes."""

from __future__ import annotations

from pipelines.circt import calyx, handshake, verilog

CALYX = """\
module attributes {calyx.entrypoint = "f"} {
  calyx.component @f(%in0: i32, %clk: i1 {clk}, %go: i1 {go}) -> (%done: i1 {done}) {
    %true = hw.constant true
    %std_neq_0.left, %std_neq_0.right, %std_neq_0.out = calyx.std_neq @std_neq_0 : i1, i1, i1
    %mem_0.addr0, %mem_0.write_data, %mem_0.read_data, %mem_0.read_en, %mem_0.read_done = \
calyx.seq_mem @mem_0 <[16] x 32> [4] {external = true} : i4, i32, i32, i1, i1
    %a_reg.in, %a_reg.write_en, %a_reg.clk, %a_reg.reset, %a_reg.out, %a_reg.done = calyx.register @a_reg : \
i32, i1, i1, i1, i32, i1
    calyx.wires {
      calyx.group @init_0 {
        calyx.assign %a_reg.in = %in0 : i32
        calyx.group_done %a_reg.done : i1
      }
      calyx.group @init_1 {
        calyx.assign %b_reg.in = %in0 : i32
        calyx.group_done %b_reg.done : i1
      }
      calyx.comb_group @bb0_0 {
        calyx.assign %std_neq_0.left = %a_reg.out : i1
      }
      calyx.group @load {
        calyx.assign %mem_0.addr0 = %in0 : i4
        calyx.assign %mem_0.read_en = %true : i1
        calyx.assign %a_reg.in = %mem_0.read_data : i32
        calyx.group_done %mem_0.read_done : i1
      }
    }
    calyx.control {
      calyx.seq {
        calyx.par {
          calyx.enable @init_0
          calyx.enable @init_1
        }
        calyx.while %std_neq_0.out with @bb0_0 {
          calyx.enable @load
        }
      }
    }
  } {toplevel}
}
"""


def test_join_parallel_groups_waits_for_all() -> None:
    text = calyx.join_parallel_groups(CALYX)
    assert "calyx.par" not in text
    assert text.count("calyx.enable @init_0") == 1
    assert "@init_1" not in text
    assert "%all = comb.and %b_reg.done, %a_reg.done : i1" in text
    assert text.count("calyx.assign %b_reg.in = %in0") == 1


def test_evaluate_always_moves_conditions_to_the_wires() -> None:
    text = calyx.evaluate_always(CALYX)
    assert "comb_group" not in text
    assert "calyx.while %std_neq_0.out {" in text
    assert text.index("%std_neq_0.left = %a_reg.out") < text.index("calyx.group @")


def test_memories_outside_are_ports_where_they_are_used() -> None:
    text = calyx.memories_outside(CALYX)
    assert "seq_mem" not in text
    assert "@f(%mem_0_read_data: i32, %mem_0_read_done: i1, %in0: i32" in text
    assert "-> (%mem_0_addr0: i4, %mem_0_read_en: i1, %done: i1 {done})" in text
    assert "calyx.group_done %mem_0_read_done : i1" in text
    assert "write_data" not in text


ONE_ENABLE = """\
    %mem_0.addr0, %mem_0.content_en, %mem_0.write_en, %mem_0.write_data, %mem_0.read_data, %mem_0.done = \
calyx.seq_mem @mem_0 <[16] x 32> [4] {external = true} : i4, i1, i1, i32, i32, i1
    calyx.wires {
      calyx.group @load {
        calyx.assign %mem_0.content_en = %true : i1
        calyx.assign %mem_0.write_en = %false : i1
        calyx.group_done %mem_0.done : i1
      }
      calyx.group @store {
        calyx.assign %mem_0.write_en = %true : i1
        calyx.assign %mem_0.content_en = %true : i1
        calyx.group_done %mem_0.done : i1
      }
"""


def test_separate_accesses_gives_each_kind_of_access_its_enable() -> None:
    memory, _, *groups = calyx.separate_accesses(ONE_ENABLE).splitlines()
    assert memory.split(" = ")[0].split(", ") == [
        *("    %mem_0.addr0", "%mem_0.read_en", "%mem_0.write_en"),
        *("%mem_0.write_data", "%mem_0.read_data", "%mem_0.read_done", "%mem_0.write_done"),
    ]
    assert memory.endswith(": i4, i1, i1, i32, i32, i1, i1")
    assert [line.strip() for line in groups if "%" in line] == [
        "calyx.assign %mem_0.read_en = %true : i1",
        "calyx.group_done %mem_0.read_done : i1",
        "calyx.assign %mem_0.write_en = %true : i1",
        "calyx.group_done %mem_0.write_done : i1",
    ]


def test_separate_accesses_keeps_memories_of_older_versions() -> None:
    assert calyx.separate_accesses(CALYX) == CALYX


def test_connect_clocks_reaches_every_register() -> None:
    text = calyx.connect_clocks(CALYX)
    assert "calyx.assign %a_reg.clk = %clk : i1" in text
    assert "calyx.assign %a_reg.reset = %reset : i1" in text
    assert text.count(".clk = %clk") == 1


HANDSHAKE = """\
module {
  handshake.func @f(%arg0: memref<16xi32>, %arg1: i32, %arg2: memref<4xi8>, \
%arg4: memref<2xi8>, %arg3: none, ...) -> (i32, none) \
attributes {argNames = ["in0", "in1", "in2", "in3"], resNames = ["out0", "out1"]} {
    %0 = extmemory[ld = 0, st = 1] (%arg2 : memref<4xi8>) (%d, %a) {id = 1 : i32} : (i8, index) -> none
    %1:3 = extmemory[ld = 1, st = 1] (%arg0 : memref<16xi32>) (%dataResult_0, %addressResult, \
%addressResults) {id = 0 : i32} : (i32, index, index) -> (i32, none, none)
    extmemory[ld = 0, st = 0] (%arg4 : memref<2xi8>) () {id = 2 : i32} : () -> ()
    %3 = join %2, %1#2, %1#1, %0 : none, none, none, none
    %dataResult, %addressResults = load [%4] %1#0, %2 : index, i32
    return %5, %3 : i32, none
  }
}
"""


def test_memory_channels_replace_memories() -> None:
    text = handshake.memory_channels(HANDSHAKE)
    assert "extmemory" not in text
    assert "memref" not in text
    assert "%3 = join %2, %m0_ld0_got, %m0_st0_done, %m1_st0_done : none" in text
    assert "load [%4] %m0_ld0_data, %2" in text
    assert "%m0_ld0_got = join %m0_ld0_data : i32" in text
    assert "%m1_st0_addr = arith.index_cast %a : index to i2" in text
    ports = '"in0", "in1", "m1_st0_done", "m0_st0_done", "m0_ld0_data"'
    assert f"argNames = [{ports}]" in text
    assert "return %5, %3, %d, %m1_st0_addr, %dataResult_0, %m0_st0_addr, %m0_ld0_addr : " in text


EXPORTED = """\
`include "types.sv"	// -:1:1
module control(input clk);	// -:2:3
  reg                output_0;	// -:2:3
  always_comb begin	// -:2:3
    case (state_reg)	// -:2:3
      default: begin
      end
    endcase	// -:2:3
  end // always_comb
endmodule

// ----- 8< ----- FILE "types.sv" ----- 8< -----

typedef enum bit {a, b} t;	// -:2:3
"""


def test_exported_verilog_is_one_file_without_latches() -> None:
    text = verilog.exported_verilog(EXPORTED)
    assert "include" not in text
    assert "-:" not in text
    assert text.index("typedef") < text.index("module control")
    inside = text[text.index("always_comb") : text.index("case")]
    assert "state_next = state_reg;" in inside
    assert "output_0 = 1'b0;" in inside
