"""Values of single operations of every width against Python's integers and NumPy's floats."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from pipelines.c import ir
from pipelines.c import signature as types
from pipelines.c.arithmetic import value_range, wrap
from pipelines.c.cdfg import Block, Branch, Cdfg, Finish, Operation, Terminator
from pipelines.c.signature import Argument, Interface, ScalarType
from pipelines.cyclemodel import CycleModelError, CycleResult, build_model, run_model, write_program
from pipelines.cyclemodel.expressions import number_type
from pipelines.hls import BlockSchedule, ScheduledDesign

INT64, UINT64, FLOAT, DOUBLE = types.INT64, types.UINT64, types.FLOAT, types.DOUBLE
RING = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
COMPARISONS = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


class Sheet:
    """A straight-line design of single operations on constants, and the values it should give."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.expected: list[int] = []
        self.notes: list[str] = []

    def add(self, opcode: str, operands: tuple[int, ...], kind: ScalarType | None, **fields: object) -> int:
        index = len(self.operations)
        self.operations.append(
            Operation(index=index, opcode=opcode, operands=operands, type=kind, line=1, **fields)  # type: ignore[arg-type]
        )
        return index

    def input(self, value: int, kind: ScalarType) -> int:
        """A value gcc does not know: a constant loaded from a table whose elements have the type."""
        width = next(w for w in (8, 16, 32, 64) if kind.width_bits <= w)
        element = kind if kind.floating else ScalarType(width_bits=width, signed=kind.signed)
        table = ir.Array(
            name=f"k{len(self.operations)}", type=element, shape=(1,), external=False, initial=(value,)
        )
        zero = self.add("const", (), types.INT32, value=0)
        return self.add("load", (zero,), kind, symbol=table)

    def expect(self, index: int, value: int, note: str) -> None:
        """The operation must give this number (bits of a floating one)."""
        kind = self.operations[index].type
        assert kind is not None
        if kind.floating:
            index = self.add("bits", (index,), ScalarType(width_bits=kind.width_bits, signed=False))
        wide = self.add("cast", (index,), UINT64)
        place = self.add("const", (), types.INT32, value=len(self.expected))
        out = ir.Array(name="out", type=UINT64, shape=(1,), external=True)
        self.add("store", (place, wide), None, symbol=out)
        self.expected.append(value % (1 << 64))
        self.notes.append(note)

    def run(self, folder: Path) -> None:
        """Run the design and compare."""
        size = len(self.expected)
        out = ir.Array(name="out", type=UINT64, shape=(size,), external=True)
        operations = tuple(
            Operation(
                **{f: getattr(o, f) for f in o.__slots__} | {"symbol": out}  # type: ignore[arg-type]
            )
            if o.name == "out"
            else o
            for o in self.operations
        )
        tables = tuple(o.symbol for o in operations if o.opcode == "load")
        design = design_of(operations, Finish(value=None), (out, *tables))  # type: ignore[arg-type]
        argument = Argument(name="out", type=UINT64, shape=(size,), read=False, written=True)
        found = run_design(design, (argument,), {"out": np.zeros(size, np.uint64)}, folder)
        assert found.status == "ok", found.reason
        for got, want, note in zip(found.outputs["out"].tolist(), self.expected, self.notes, strict=True):
            assert got == want, f"{note}: {got:#x} is not {want:#x}"


def design_of(
    operations: tuple[Operation, ...],
    terminator: Terminator,
    arrays: tuple[ir.Array, ...] = (),
    *,
    interval: int | None = None,
    ready: int = 0,
) -> ScheduledDesign:
    """A design of one block whose operations start in cycle `ready`, and one that ends it."""
    blocks = [Block(index=0, operations=operations, terminator=terminator, loop="L0", line=1)]
    if isinstance(terminator, Branch):
        blocks.append(Block(index=1, operations=(), terminator=Finish(value=None), loop=None, line=1))
    schedules = tuple(
        BlockSchedule(
            graph=SimpleNamespace(  # type: ignore[arg-type]
                block=b, timings=tuple(SimpleNamespace(latency_cycles=0) for _ in b.operations)
            ),
            starts=tuple(ready for _ in b.operations),
            length_cycles=5 if b.index == 0 else 1,
            interval_cycles=interval if b.index == 0 else None,
            conflict_cycles=0,
        )
        for b in blocks
    )
    function = ir.Function(name="f", parameters=(), arrays=arrays, returns=None, body=())
    graph = Cdfg(function=function, blocks=tuple(blocks))
    return ScheduledDesign(graph=graph, schedules=schedules, model=None, units={})  # type: ignore[arg-type]


def run_design(
    design: ScheduledDesign, arguments: tuple[Argument, ...], data: types.DataSet, folder: Path
) -> CycleResult:
    interface = Interface(top="f", arguments=arguments, returns=None)
    compiled = SimpleNamespace(scheduled=design, interface=interface)
    model = build_model(compiled, folder=folder)  # type: ignore[arg-type]
    return run_model(model, [data], folder=folder)[0]  # type: ignore[arg-type]


def some_type(random: Random) -> ScalarType:
    return ScalarType(width_bits=random.choice([1, 7, 8, 31, 32, 33, 63, 64]), signed=random.random() < 0.5)


def some_value(random: Random, kind: ScalarType) -> int:
    low, high = value_range(kind)
    near = random.choice([low, high, 0, -1, 1, random.randint(low, high), random.randint(low, high)])
    return min(max(near, low), high)


def truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def test_integer_operations_of_any_width(tmp_path: Path) -> None:
    random, sheet = Random(1), Sheet()
    for _ in range(60):
        left_type, right_type = some_type(random), some_type(random)
        left, right = some_value(random, left_type), some_value(random, right_type)
        a, b = sheet.input(left, left_type), sheet.input(right, right_type)
        for opcode, function in RING.items():
            kind = some_type(random)
            want = wrap(function(left, right), kind)
            sheet.expect(sheet.add(opcode, (a, b), kind), want, f"{left} {opcode} {right} as {kind}")
        kind = some_type(random)
        sheet.expect(sheet.add("neg", (a,), kind), wrap(-left, kind), f"neg {left}")
        sheet.expect(sheet.add("not", (a,), kind), wrap(~left, kind), f"not {left}")
        sheet.expect(sheet.add("cast", (a,), kind), wrap(left, kind), f"cast {left}")
        if number_type((left_type, right_type)) == "u64" and min(left, right) < 0:
            continue  # in C both would have one type
        for opcode, function in COMPARISONS.items():
            kind = random.choice([types.INT32, ScalarType(width_bits=1, signed=False)])
            index = sheet.add(opcode, (a, b), kind)
            sheet.expect(index, int(function(left, right)), f"{left} {opcode} {right}")
        if right != 0:
            quotient = truncated(left, right)
            sheet.expect(sheet.add("div", (a, b), kind := INT64), wrap(quotient, kind), f"{left} / {right}")
            rest = left - right * quotient
            sheet.expect(sheet.add("rem", (a, b), INT64), wrap(rest, INT64), f"{left} % {right}")
        chosen = sheet.add("select", (b, a, b), INT64)
        sheet.expect(chosen, wrap(left if right else right, INT64), f"{right} ? {left} : {right}")
    sheet.run(tmp_path)


def test_shifts_by_any_amount(tmp_path: Path) -> None:
    random, sheet = Random(2), Sheet()
    for _ in range(80):
        value_type, kind = some_type(random), some_type(random)
        value, amount = some_value(random, value_type), random.choice([0, 1, 7, 31, 32, 40, 63, 64, 127])
        a, b = sheet.input(value, value_type), sheet.input(amount, types.UINT8)
        left = sheet.add("shl", (a, b), kind)
        sheet.expect(left, wrap(value << amount, kind), f"{value} << {amount} as {kind}")
        right = sheet.add("shr", (a, b), value_type)
        sheet.expect(right, value >> amount, f"{value} >> {amount} as {value_type}")
    sheet.run(tmp_path)


def test_quotients_by_constants_and_by_zero(tmp_path: Path) -> None:
    sheet = Sheet()
    for value in (-(2**31), -7, 0, 7, 2**31 - 1):
        a = sheet.input(value, types.INT32)
        for divisor in (-(2**31), -3, -1, 1, 2, 10):
            index = sheet.add("divc", (a,), types.INT32, value=divisor)
            sheet.expect(index, wrap(truncated(value, divisor), types.INT32), f"{value} / constant {divisor}")
        zero = sheet.input(0, types.INT32)
        ones = 1 if value < 0 else -1
        sheet.expect(sheet.add("div", (a, zero), types.INT32), ones, f"{value} / 0")
        sheet.expect(sheet.add("rem", (a, zero), types.INT32), value, f"{value} % 0")
    most = sheet.input(2**64 - 1, UINT64)
    sheet.expect(sheet.add("divc", (most,), UINT64, value=10), (2**64 - 1) // 10, "wide quotient")
    sheet.run(tmp_path)


def bits(number: float, kind: ScalarType) -> int:
    return int.from_bytes(np.array(number, kind.dtype).tobytes(), "little")


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE], ids=["float", "double"])
def test_floating_operations_round_once(kind: ScalarType, tmp_path: Path) -> None:
    sheet = Sheet()
    tiny = float(np.finfo(kind.dtype).smallest_subnormal)
    numbers = [0.0, -0.0, 1.0, -1.5, 0.1, 1e30, -3e-30, tiny, -tiny, float("inf"), 3.0]
    for left in numbers:
        a = sheet.input(bits(left, kind), kind)
        sheet.expect(sheet.add("neg", (a,), kind), bits(-left, kind), f"-{left}")
        sheet.expect(sheet.add("abs", (a,), kind), bits(abs(left), kind), f"|{left}|")
        if not left < 0:
            want = bits(np.sqrt(np.array(left, kind.dtype)), kind)
            sheet.expect(sheet.add("sqrt", (a,), kind), want, f"sqrt {left}")
        for right in numbers:
            b = sheet.input(bits(right, kind), kind)
            x, y = np.array(left, kind.dtype), np.array(right, kind.dtype)
            with np.errstate(all="ignore"):
                results = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}
            for opcode, result in results.items():
                if not np.isnan(result):
                    index = sheet.add(opcode, (a, b), kind)
                    sheet.expect(index, bits(result, kind), f"{left} {opcode} {right}")
            for opcode, function in COMPARISONS.items():
                index = sheet.add(opcode, (a, b), types.INT32)
                sheet.expect(index, int(function(x, y)), f"{left} {opcode} {right}")
    sheet.run(tmp_path)


def test_conversions_are_those_of_c(tmp_path: Path) -> None:
    sheet = Sheet()
    for value in (0, -1, 2**24 + 1, -(2**63), 2**63 - 1, 2**62 + 2**38 + 1):
        a = sheet.input(value, INT64)
        sheet.expect(
            sheet.add("cast", (a,), FLOAT), bits(np.int64(value).astype(np.float32), FLOAT), "to float"
        )
        sheet.expect(sheet.add("cast", (a,), DOUBLE), bits(float(value), DOUBLE), "to double")
    most = sheet.input(2**64 - 1, UINT64)
    sheet.expect(sheet.add("cast", (most,), DOUBLE), bits(2.0**64, DOUBLE), "unsigned to double")
    for number in (0.0, -2.9, 2.9, 2.0**31 - 1, -(2.0**31)):
        b = sheet.input(bits(number, DOUBLE), DOUBLE)
        sheet.expect(sheet.add("cast", (b,), types.INT32), int(number), f"{number} to int")
        sheet.expect(sheet.add("cast", (b,), FLOAT), bits(number, FLOAT), f"{number} to float")
    c = sheet.input(bits(-0.0, FLOAT), FLOAT)
    sheet.expect(sheet.add("bits", (c,), types.INT32), -(2**31), "bits of a float")
    for number in (float("inf"), -float("inf"), -0.0, 0.1):
        constant = sheet.add("const", (), FLOAT, value=bits(number, FLOAT))
        sheet.expect(constant, bits(number, FLOAT), f"constant {number}")
    half = sheet.input(
        struct.unpack("<I", struct.pack("<f", 0.5))[0], ScalarType(width_bits=30, signed=False)
    )
    sheet.expect(sheet.add("bits", (half,), FLOAT), bits(0.5, FLOAT), "float of 30 bits")
    sheet.run(tmp_path)


def loop(ready: int, interval: int | None) -> ScheduledDesign:
    counter = ir.Variable(name="i")
    operations = (
        Operation(index=0, opcode="read", operands=(), type=types.INT32, line=1, symbol=counter),
        Operation(index=1, opcode="const", operands=(), type=types.INT32, line=1, value=1),
        Operation(index=2, opcode="add", operands=(0, 1), type=types.INT32, line=1),
        Operation(index=3, opcode="const", operands=(), type=types.INT32, line=1, value=10),
        Operation(index=4, opcode="lt", operands=(2, 3), type=types.INT32, line=1),
        Operation(index=5, opcode="write", operands=(2,), type=None, line=1, symbol=counter),
    )
    branch = Branch(condition=4, if_true=0, if_false=1)
    return design_of(operations, branch, interval=interval, ready=ready)


def test_a_loop_takes_its_interval_each_iteration_and_its_depth_once(tmp_path: Path) -> None:
    plain = run_design(loop(0, None), (), {}, tmp_path)
    assert plain.latency_cycles == 1 + 10 * 5 + 1
    pipelined = run_design(loop(0, 2), (), {}, tmp_path)
    assert pipelined.latency_cycles == 1 + 9 * 2 + 5 + 1
    assert (pipelined.iterations, pipelined.block_visits) == ({"L0": 10}, {"b0": 10, "b1": 1})


def test_the_model_rejects_a_condition_that_is_known_too_late() -> None:
    interface = Interface(top="f", arguments=(), returns=None)
    with pytest.raises(
        CycleModelError,
        match=r"^the condition of a pipelined loop must be known in its first 2 cycles, got 2$",
    ):
        write_program(loop(2, 2), interface)


@pytest.mark.parametrize("address", [3, -1])
def test_an_element_outside_its_array_is_a_tool_error(address: int, tmp_path: Path) -> None:
    array = ir.Array(name="A", type=types.INT32, shape=(3,), external=True)
    operations = (
        Operation(index=0, opcode="const", operands=(), type=types.INT32, line=4, value=address),
        Operation(index=1, opcode="store", operands=(0, 0), type=None, line=5, symbol=array),
    )
    argument = Argument(name="A", type=types.INT32, shape=(3,), read=False, written=True)
    design = design_of(operations, Finish(value=None), (array,))
    found = run_design(design, (argument,), {"A": np.zeros(3, np.int32)}, tmp_path)
    assert (found.status, found.reason) == (
        "tool_error",
        "the design touches an element outside array A (line 5)",
    )
