"""The test bench: every type as its bits, and banks of a partitioned array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.c import signature as types
from pipelines.c.signature import INT32, Argument, Bank, BankDimension, Interface, ScalarType
from pipelines.rtl.simulation import MemoryTiming, SimulationResult, simulate_design
from pipelines.rtl.simulation.exchange import value_of_bits
from pipelines.rtl.simulation.harness import module_ports

TIMING = MemoryTiming(read_delay_cycles=2, write_delay_cycles=1)

# Copies A[2] to B[1] and gives back the scalar.
COPY = """
module copy_hw (input clk, input rst, input start, output done, input signed [{top}:0] s_x,
  output reg signed [{top}:0] result, output m_A_re, output [1:0] m_A_raddr, input signed [{top}:0] m_A_rdata,
  output m_B_we, output [1:0] m_B_waddr, output signed [{top}:0] m_B_wdata);
  reg [3:0] t;
  assign m_A_re = (t == 1);
  assign m_A_raddr = 2;
  assign m_B_we = (t == 3);
  assign m_B_waddr = 1;
  assign m_B_wdata = m_A_rdata;
  assign done = (t == 6);
  always @(posedge clk) begin
    if (rst) t <= 0;
    else if (start || t != 0) t <= t + 1;
    if (t == 3) result <= s_x;
  end
endmodule
"""

SAMPLES = {
    types.INT8: [-128, 127, -1],
    types.UINT8: [0, 255, 129],
    types.INT16: [-32768, 32767, -2],
    types.UINT16: [0, 65535, 40000],
    types.INT32: [-(2**31), 2**31 - 1, -3],
    types.UINT32: [0, 2**32 - 1, 2**31],
    types.INT64: [-(2**63), 2**63 - 1, -4],
    types.UINT64: [0, 2**64 - 1, 2**63 + 5],
    types.FLOAT: [-0.0, float("inf"), 1e-45],
    types.DOUBLE: [-0.0, float("nan"), 5e-324],
}


@pytest.mark.sample(12)
@pytest.mark.parametrize("kind", list(SAMPLES), ids=lambda k: k.c_name)
def test_values_of_every_type_pass_as_they_are(
    kind: ScalarType, tmp_path: Path, runtime_folder: Path
) -> None:
    values = np.array(SAMPLES[kind], kind.dtype)
    array = {"type": kind, "shape": (3,)}
    interface = Interface(
        top="copy",
        arguments=(
            Argument(name="A", read=True, written=False, **array),
            Argument(name="x", type=kind, shape=(), read=True, written=False),
            Argument(name="B", read=False, written=True, **array),
        ),
        returns=kind,
    )
    result = simulate_design(
        COPY.format(top=kind.width_bits - 1),
        module="copy_hw",
        interface=interface,
        data={"A": values, "x": values[0], "B": np.zeros(3, kind.dtype)},
        timing=TIMING,
        folder=tmp_path,
        runtime_folder=runtime_folder,
    )
    assert result.status == "ok", result.reason
    assert result.outputs["B"].dtype == kind.dtype
    expected = np.array([0, values[2], 0], kind.dtype)
    assert result.outputs["B"].tobytes() == expected.tobytes()
    assert result.returned == value_of_bits(int.from_bytes(values[0].tobytes(), "little"), kind)
    assert (result.loads, result.stores) == ({"A": 1, "B": 0}, {"A": 0, "B": 1})


def test_bits_of_a_number_and_back() -> None:
    assert value_of_bits(0x1FF, types.INT8) == -1
    assert value_of_bits(0x1FF, types.UINT8) == 255
    assert value_of_bits(0x8000000000000000, types.DOUBLE) == 1 << 63


# Reads one address of both banks in the same cycle, stores their sum to address 0 of the first bank.
BANKED = """
module banked_hw (input clk, input rst, input start, output done,
  output m_A_0_re, output [2:0] m_A_0_raddr, input signed [31:0] m_A_0_rdata,
  output m_A_0_we, output [2:0] m_A_0_waddr, output signed [31:0] m_A_0_wdata,
  output m_A_1_re, output [2:0] m_A_1_raddr, input signed [31:0] m_A_1_rdata);
  reg [3:0] t;
  assign m_A_0_re = (t == 1);
  assign m_A_1_re = (t == 1);
  assign m_A_0_raddr = {address};
  assign m_A_1_raddr = {address};
  assign m_A_0_we = (t == 3);
  assign m_A_0_waddr = 0;
  assign m_A_0_wdata = 1000 * m_A_0_rdata + m_A_1_rdata;
  assign done = (t == 5);
  always @(posedge clk) if (rst) t <= 0; else if (start || t != 0) t <= t + 1;
endmodule
"""

TABLE = Interface(
    top="banked",
    arguments=(Argument(name="A", type=INT32, shape=(2, 5), read=True, written=True),),
    returns=None,
)


def banked(
    style: str, address: int, folder: Path, runtime_folder: Path, *, flat: bool = False
) -> SimulationResult:
    shape = (10,) if flat else (2, 5)
    size = -(-shape[-1] // 2)
    whole = () if flat else (BankDimension(style="whole", factor=1, number=0, size=2),)
    banks = tuple(
        Bank(
            port=f"A_{number}",
            argument="A",
            shape=shape,
            dimensions=(*whole, BankDimension(style=style, factor=2, number=number, size=size)),
            written=number == 0,
        )
        for number in (0, 1)
    )
    return simulate_design(
        BANKED.format(address=address),
        module="banked_hw",
        interface=TABLE,
        data={"A": np.arange(10, dtype=np.int32).reshape(2, 5)},
        timing=TIMING,
        banks=banks,
        folder=folder,
        runtime_folder=runtime_folder,
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("style", "address", "flat", "expected"),
    [
        # Rows of 5 in banks of 3 columns: address 4 is row 1, second column of the bank.
        ("cyclic", 4, False, 7008),
        ("block", 4, False, 6009),
        ("cyclic", 3, True, 6007),
        ("block", 3, True, 3008),
    ],
)
def test_banks_hold_the_elements_their_style_says(
    style: str, address: int, flat: bool, expected: int, tmp_path: Path, runtime_folder: Path
) -> None:
    result = banked(style, address, tmp_path, runtime_folder, flat=flat)
    assert result.status == "ok", result.reason
    assert result.outputs["A"].flatten().tolist() == [expected, *range(1, 10)]
    assert (result.loads, result.stores) == ({"A": 2}, {"A": 1})


def test_an_address_past_the_end_of_the_array_is_a_tool_error(tmp_path: Path, runtime_folder: Path) -> None:
    result = banked("cyclic", 2, tmp_path, runtime_folder)  # column 5 of 5 in the second bank
    assert result.status == "tool_error"
    assert "the design touches an element outside array A_1 at cycle 1" in (result.reason or "")


def test_ports_are_read_from_the_header() -> None:
    text = "module m (input clk, rst, /* , x */ output reg signed [7:0] y, // , z\n output done); endmodule"
    ports = module_ports(text, "m")
    assert [(p.name, p.output, p.width_bits) for p in ports.values()] == [
        ("clk", False, 1),
        ("rst", False, 1),
        ("y", True, 8),
        ("done", True, 1),
    ]
    assert module_ports(text, "n") == {}


def test_simulation_rejects_a_module_without_control_ports(tmp_path: Path, runtime_folder: Path) -> None:
    result = simulate_design(
        "module banked_hw (input clk); endmodule",
        module="banked_hw",
        interface=TABLE,
        data={"A": np.zeros((2, 5), np.int32)},
        timing=TIMING,
        folder=tmp_path,
        runtime_folder=runtime_folder,
    )
    assert result.status == "tool_error"
    assert "design lacks ports rst, start, done; needed: clk, rst, start, done" in (result.reason or "")
