"""Functional units equal the C compiler's arithmetic and their catalogue entries."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_bench import Check, Outcome, build_bench, run_bench
from unit_checks import (
    arithmetic_checks,
    comparison_checks,
    constant_check,
    conversion,
    conversion_checks,
    divider_check,
    multiplier_check,
)

from pipelines.base.tools import find_tool, run_tool
from pipelines.c.errors import HlsError
from pipelines.c.signature import DOUBLE, FLOAT, INT32, INT64, UINT32, ScalarType
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.units.catalogue import (
    FunctionalUnit,
    constant_divider,
    instance_text,
    integer_divider,
    mode_value,
    module_texts,
    reciprocal,
    unit_for,
)
from pipelines.hls.units.timing import family, unit_timing
from tests.benchmarks.characterise_units import measured_units

ODD_WIDTHS = (1, 2, 13, 25, 54, 63)


def odd_checks() -> list[Check]:
    """Integer units, and conversions from and to integers that are no type of C."""
    checks = [multiplier_check(width) for width in (1, 7, 16, 17, 32, 33, 64)]
    for width in (1, 2, 9, 32, 64):
        for signed in (True, False):
            scalar = ScalarType(width_bits=width, signed=signed)
            checks += [divider_check(scalar, opcode) for opcode in ("div", "rem")]
            top = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
            divisors = [d for d in (3, 10, top) if 0 < d <= top]
            checks += [constant_check(scalar, d) for d in (*divisors, *(-d for d in divisors if signed))]
    for number, width in enumerate(ODD_WIDTHS):
        scalar = ScalarType(width_bits=width, signed=number % 2 == 0)
        floating = (FLOAT, DOUBLE)[number // 2 % 2]
        checks += [conversion(scalar, floating), conversion(floating, scalar)]
    return checks


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory, runtime_folder: Path) -> dict[str, Outcome]:
    """Outcomes of all checks in one simulation."""
    checks = [*arithmetic_checks(), *comparison_checks(), *conversion_checks(), *odd_checks()]
    program = build_bench(checks, tmp_path_factory.mktemp("units"), runtime_folder)
    return {o.name: o for o in run_bench(program, checks, cycles=25_000)}


def test_units_equal_c_bit_for_bit(outcomes: dict[str, Outcome]) -> None:
    assert len(outcomes) > 100
    wrong = {n: o.examples for n, o in outcomes.items() if o.mismatches or o.nan_bits}
    assert not wrong
    assert min(o.vectors for o in outcomes.values()) > 350


def test_a_wrong_expectation_is_a_mismatch(tmp_path: Path, runtime_folder: Path) -> None:
    unit = unit_for("add", FLOAT, FLOAT)
    assert unit is not None
    wrong = Check(name="wrong", unit=unit, operands=(FLOAT, FLOAT), result=FLOAT, c="a - b")
    (outcome,) = run_bench(build_bench([wrong], tmp_path, runtime_folder), [wrong], cycles=1000)
    assert outcome.mismatches > 100


# ---- catalogue ------------------------------------------------------------------------------------


def every_unit() -> list[FunctionalUnit]:
    """One of each shape."""
    return [*measured_units(), constant_divider(-(2**63), INT64), constant_divider(2**32 - 1, UINT32)]


def test_operations_without_a_unit_have_none() -> None:
    assert unit_for("add", INT32, INT32) is None
    assert unit_for("lt", INT32, INT32) is None
    assert unit_for("neg", FLOAT, FLOAT) is None
    assert unit_for("cast", INT32, INT64) is None
    assert unit_for("cast", FLOAT, FLOAT) is None


def test_operations_share_a_unit() -> None:
    assert unit_for("add", FLOAT, FLOAT) == unit_for("sub", FLOAT, FLOAT)
    assert unit_for("div", INT32, INT32) == unit_for("rem", INT32, INT32)
    assert unit_for("mul", INT32, INT32) == unit_for("mul", UINT32, UINT32)
    assert unit_for("div", INT32, INT32) != unit_for("div", UINT32, UINT32)
    assert unit_for("add", FLOAT, FLOAT) != unit_for("add", DOUBLE, DOUBLE)
    assert [mode_value(opcode) for opcode in ("add", "sub", "div", "rem")] == [0, 1, 0, 1]


def test_an_instance_connects_every_port() -> None:
    unit = integer_divider(INT32)
    text = instance_text(unit, "div0", ["x", "y"], "z", go="start", mode="1'b1")
    assert text == (
        "integer_divide #(.WIDTH(32), .SIGNED(1)) div0 (.clk(clk), .rst(rst), .go(start), .a(x), .b(y), "
        ".remainder(1'b1), .y(z));"
    )


def test_an_instance_rejects_a_missing_operand_or_start() -> None:
    unit = integer_divider(INT32)
    with pytest.raises(HlsError, match="integer_divide must have 2 operands, got 1"):
        instance_text(unit, "d", ["x"], "z", go="g")
    with pytest.raises(HlsError, match="integer_divide must have a start signal, got none"):
        instance_text(unit, "d", ["x", "y"], "z")


def test_a_module_is_written_once_and_after_those_it_uses() -> None:
    text = module_texts(every_unit())
    modules = [line.split()[1] for line in text.splitlines() if line.startswith("module ")]
    assert len(modules) == len(set(modules))
    assert modules.index("float_round") < modules.index("float_multiply")
    assert {"shift_right_sticky", "leading_zeros", "quotient_digit"} <= set(modules)


def instances_text() -> str:
    """A module with every unit of the catalogue."""
    body: list[str] = []
    for number, unit in enumerate(every_unit()):
        body += [f"  wire [{w - 1}:0] n{number}_{p} = wide[{w - 1}:0];" for p, w in unit.ports]
        body.append(f"  wire [{unit.output[1] - 1}:0] n{number}_y;")
        operands = [f"n{number}_{p}" for p, _ in unit.ports]
        body.append("  " + instance_text(unit, f"n{number}", operands, f"n{number}_y", "go", "mode"))
        body.append(f"  assign parity[{number}] = ^n{number}_y;")
    last = len(every_unit()) - 1
    head = f"module top(input clk, rst, go, mode, input [63:0] wide, output [{last}:0] parity);"
    return "\n".join([module_texts(every_unit()), head, *body, "endmodule\n"])


def test_no_tool_warns_about_a_unit(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text(instances_text())
    verilator = [find_tool("verilator", "verilator"), "--lint-only", "--no-timing", "-Wall"]
    verilator += ["-Wno-DECLFILENAME", "--top-module", "top", "top.v"]
    icarus = [find_tool("iverilog", "iverilog"), "-g2005", "-Wall", "-o", "top.vvp", "top.v"]
    for argv in (verilator, icarus):
        run = run_tool(argv, folder=tmp_path, timeout_s=120)
        said = [line for line in (run.stdout + run.stderr).splitlines() if not line.startswith("- ")]
        assert (run.returncode, said) == (0, [])  # newer Verilators end with a report, in lines of `- `


# ---- theory ---------------------------------------------------------------------------------------

SELECTION = (Path(__file__).parents[2] / "pipelines" / "hls" / "units" / "quotient_digit.v").read_text()


def thresholds() -> list[dict[int, int]]:
    """By the divisor's first bits: the lowest estimate of digits 2, 1, 0 and -1 in sixteenths."""
    lines = [line for line in SELECTION.splitlines() if "= {" in line and "8'd" in line]
    rows = [line.split("= {")[1].split("}")[0].replace("8'd", "").split(", ") for line in lines]
    return [dict(zip((2, 1, 0, -1), (-int(text) for text in row), strict=True)) for row in rows]


def test_quotient_digits_keep_the_remainder_in_bounds() -> None:
    """Ercegovac and Lang: digit k may be chosen for (k - 2/3) d <= 4 w <= (k + 2/3) d.

    An estimate t stands for t / 16 <= 4 w < (t + 2) / 16, as two words were cut.
    """
    rows = thresholds()
    assert len(rows) == 8
    for index, row in enumerate(rows):
        for divisor in (Fraction(8 + index, 16), Fraction(9 + index, 16)):
            for digit, lowest in row.items():
                assert Fraction(lowest, 16) >= (digit - Fraction(2, 3)) * divisor
                highest_of_next = Fraction(lowest - 1 + 2, 16)
                assert highest_of_next <= (digit - 1 + Fraction(2, 3)) * divisor


@given(
    scalar=st.builds(ScalarType, width_bits=st.integers(1, 64), signed=st.booleans()),
    divisor=st.integers(1, 2**64 - 1),
    near=st.integers(-2, 2),
    multiple=st.integers(0, 2**64),
)
def test_reciprocals_divide_exactly(scalar: ScalarType, divisor: int, near: int, multiple: int) -> None:
    low = -(1 << (scalar.width_bits - 1)) if scalar.signed else 0
    high = low + (1 << scalar.width_bits) - 1
    divisor = 1 + divisor % max(1, -low if scalar.signed else high)
    factor, shift = reciprocal(divisor, scalar)
    for value in (
        low,
        high,
        multiple % (high // divisor + 1) * divisor + near,
        low + multiple % (high - low + 1),
    ):
        if low <= value <= high:
            truncated = abs(value) // divisor * (1 if value >= 0 else -1)
            assert (value * factor >> shift) + (value < 0) == truncated


def test_reciprocal_rejects_zero() -> None:
    with pytest.raises(HlsError, match="a constant divisor must not be zero, got 0"):
        reciprocal(0, INT32)


def test_a_divisor_that_folds_to_zero_names_its_line() -> None:
    with pytest.raises(HlsError, match=r"a constant divisor must not be zero, got 0 \(line 2\)$"):
        compile_program("int f(int a, int n) {\n  return a / (n - n);\n}\n", top="f", options=HlsOptions())


# ---- timing ---------------------------------------------------------------------------------------


def test_every_stage_fits_eight_nanoseconds() -> None:
    for unit in measured_units():
        timing = unit_timing(unit, "osu018")
        assert timing.stage_ns <= 8.0
        assert timing.input_ns <= 7.0
        assert timing.area_um2 > 0
        assert (timing.flip_flop_count > 0) == unit.clocked


def test_figures_of_other_widths_lie_between_their_neighbours() -> None:
    def figures(width: int):
        unit = unit_for("mul", ScalarType(width_bits=width), ScalarType(width_bits=width))
        assert unit is not None
        return family(unit), unit_timing(unit, "osu018")

    (name, width), timing = figures(20)
    assert (name, width) == ("integer_multiply", 20)
    assert figures(17)[1].area_um2 < timing.area_um2 < figures(24)[1].area_um2
    assert timing.input_ns == figures(24)[1].input_ns
    assert abs(timing.flip_flop_count - 3 * 20) <= 1
    assert figures(2)[1].flip_flop_count == 2


def test_figures_reject_an_unknown_library() -> None:
    with pytest.raises(HlsError, match="units must be measured in one of osu018, sky130hd_tt, got 'other'"):
        unit_timing(integer_divider(INT32), "other")
