"""Programs of the AST stage taken apart: their interface, their liveness, and changes of single assignments.

`Instrumented` writes a program whose every assigned value goes through a probe. The probe notes a value
outside the range that the generator promised, and changes the value of one chosen assignment, within that
range, so that the changed program has no undefined behaviour either.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipelines.c.signature import Argument, DataSet, Interface, ScalarType
from pipelines.c.text.headers import INCLUDE_FOLDER
from pipelines.programs.ast.tree import (
    Array,
    Assign,
    Binary,
    Call,
    Constant,
    Declare,
    Expression,
    For,
    Function,
    If,
    Leave,
    Program,
    Read,
    Return,
    Statement,
    Switch,
    Variable,
    While,
    expressions_of,
    walk_expression,
)
from pipelines.programs.ast.writing import write_program

CHANGES = 4
"""Ways in which a probe changes a value."""

_PRELUDE = """
int probe_site = -1, probe_change = 0, probe_broken = 0;
static __int128 probe_integer(int site, __int128 value, __int128 low, __int128 high)
{
    if (value < low || value > high)
        probe_broken = site + 1;
    if (site != probe_site)
        return value;
    __int128 span = high - low + 1;
    __int128 moves[] = {1, span / 2 + 1, span / 3 + 1, 5};
    return low + (value - low + moves[probe_change]) % span;
}
static double probe_floating(int site, double value, double low, double high)
{
    if (!(value >= low && value <= high))
        probe_broken = site + 1;
    if (site != probe_site)
        return value;
    double moves[] = {value + 1 <= high ? value + 1 : value - 1, value / 2 + high / 4, -value / 2, high / 3};
    double moved = moves[probe_change];
    return moved < low ? low : moved > high ? high : moved;
}
"""


def interface_of(program: Program) -> Interface:
    """Arguments and result of the top function."""
    top = program.top
    arguments = tuple(
        Argument(
            name=p.name,
            type=p.type,
            shape=tuple(e.value for e in p.shape) if isinstance(p, Array) else (),
            read=True,
            written=isinstance(p, Array) and p.name not in top.read_only,
        )
        for p in top.parameters
    )
    return Interface(top=top.name, arguments=arguments, returns=top.returns)


# ---- static liveness -------------------------------------------------------------------------------

Live = frozenset[str]


@dataclass
class Liveness:
    """Backward liveness of scalars; `dead` are assignments whose value nothing can read."""

    dead: list[str]

    def before(self, body: tuple[Statement, ...], after: Live, leaves: dict[str, Live]) -> Live:
        for statement in reversed(body):
            after = self.step(statement, after, leaves)
        return after

    def step(self, statement: Statement, after: Live, leaves: dict[str, Live]) -> Live:
        match statement:
            case Declare() | Assign():
                return self.set(statement, after)
            case Leave():
                return leaves[statement.word]
            case Return():
                return reads(statement.value)
            case If():
                both = [self.before(b, after, leaves) for b in (statement.then, statement.otherwise)]
                return both[0] | both[1] | reads(statement.condition)
            case Switch():
                inside = [self.before(b, after, leaves) for _, b in statement.cases]
                left = after if all(label is not None for label, _ in statement.cases) else frozenset[str]()
                return left.union(*inside) | reads(statement.selector)
            case For() | While():
                return self.loop(statement, after)
            case _:
                return after

    def loop(self, statement: For | While, after: Live) -> Live:
        """The least fixed point; faults are noted in the last round only."""
        own = frozenset[str]().union(*map(reads, expressions_of(statement)))
        head = after | own
        while True:
            quiet = Liveness(dead=[])
            found = head | quiet.before(statement.body, head, {"break": after, "continue": head})
            if found == head:
                break
            head = found
        self.before(statement.body, head, {"break": after, "continue": head})
        return head

    def set(self, statement: Declare | Assign, after: Live) -> Live:
        if isinstance(statement, Declare):
            name, operator = statement.variable.name, "="
        elif isinstance(statement.target, Read):
            name, operator = statement.target.variable.name, statement.operator
        else:
            return after | reads(statement.target) | reads(statement.value)
        value = frozenset[str]() if statement.value is None else reads(statement.value)
        if name not in after and statement.value is not None:
            self.dead.append(name)
        return (after - {name} if operator == "=" else after) | value


def reads(expression: Expression) -> Live:
    """Variables that an expression reads."""
    return frozenset(e.variable.name for e in walk_expression(expression) if isinstance(e, Read))


def dead_assignments(program: Program) -> list[str]:
    """Scalars that are somewhere given a value that nothing can read."""
    found = Liveness(dead=[])
    for function in program.functions:
        found.before(function.body, frozenset(), {})
    return found.dead


# ---- probes ----------------------------------------------------------------------------------------


class Probes:
    """Writes probes into a program; `sites` are those whose value may be changed."""

    def __init__(self) -> None:
        self.sites: list[str] = []

    def program(self, program: Program) -> Program:
        return replace(program, functions=tuple(map(self.function, program.functions)))

    def function(self, function: Function) -> Function:
        return replace(function, body=self.body(function.body))

    def body(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(map(self.statement, body))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Declare(variable=variable, value=Expression() as value):
                return replace(statement, value=self.probe(variable, value))
            case Assign(control=False):
                value = statement.value
                if statement.operator != "=":
                    value = Binary(
                        type=value.type,
                        low=0,
                        high=0,
                        operator=statement.operator[:-1],
                        left=statement.target,
                        right=value,
                    )
                target = statement.target
                place = target.variable if isinstance(target, Read) else target.array
                return replace(statement, operator="=", value=self.probe(place, value))
            case If():
                return replace(
                    statement, then=self.body(statement.then), otherwise=self.body(statement.otherwise)
                )
            case For() | While():
                return replace(statement, body=self.body(statement.body))
            case Switch():
                return replace(statement, cases=tuple((n, self.body(b)) for n, b in statement.cases))
            case _:
                return statement

    def probe(self, place: Variable | Array, value: Expression) -> Expression:
        site = Constant(type=place.type, low=0, high=0, value=0, text=str(len(self.sites)))
        self.sites.append(place.name)
        bounds = [
            Constant(type=place.type, low=0, high=0, value=0, text=bound_text(b, place.type))
            for b in (place.low, place.high)
        ]
        # Converted to the type of the place first, as the assignment does.
        as_stored = Call(
            type=place.type, low=0, high=0, function=f"({place.type.c_name})", arguments=(value,)
        )
        function = "probe_floating" if place.type.floating else "probe_integer"
        return Call(type=place.type, low=0, high=0, function=function, arguments=(site, as_stored, *bounds))


def bound_text(value: float, kind: ScalarType) -> str:
    """A bound as a C literal of any size."""
    if kind.floating:
        return repr(float(value))
    return f"-(__int128){-int(value):#x}u" if value < 0 else f"{int(value):#x}u"


class Instrumented:
    """A program with probes, built and loaded."""

    def __init__(self, program: Program, folder: Path) -> None:
        probes = Probes()
        text = write_program(probes.program(program))
        first = text.index("\n\n") + 1
        self.sites = probes.sites
        self.interface = interface_of(program)
        source, library = folder / "probed.c", folder / "probed.so"
        source.write_text(text[:first] + _PRELUDE + text[first:], encoding="utf-8")
        headers = ["-nostdinc", "-isystem", str(INCLUDE_FOLDER)]
        flags = [
            "-std=gnu11",
            "-O1",
            "-w",
            "-fwrapv",
            "-fno-builtin",
            "-ffp-contract=off",
            "-shared",
            "-fPIC",
        ]
        subprocess.run(["gcc", *flags, *headers, str(source), "-o", str(library)], check=True)
        self.library = ctypes.CDLL(str(library))

    def run(self, data: DataSet, *, site: int = -1, change: int = 0) -> tuple[bytes, ...]:
        """Bits of all outputs, with the value of one site changed."""
        self._set("probe_site", site)
        self._set("probe_change", change)
        self._set("probe_broken", 0)
        arguments, outputs = [], []
        for argument in self.interface.arguments:
            if argument.is_array:
                copy = np.ascontiguousarray(data[argument.name]).copy()
                arguments.append(ctypes.c_void_p(copy.ctypes.data))
                outputs.append(copy)
            else:
                arguments.append(c_type(argument.type)(data[argument.name].item()))
        function = self.library[self.interface.top]
        function.restype = None if self.interface.returns is None else c_type(self.interface.returns)
        returned = function(*arguments)
        return (*(o.tobytes() for o in outputs), repr(returned).encode())

    @property
    def broken(self) -> str | None:
        """A place whose value left its range in the last run."""
        site = ctypes.c_int.in_dll(self.library, "probe_broken").value - 1
        return self.sites[site] if site >= 0 else None

    def _set(self, name: str, value: int) -> None:
        ctypes.c_int.in_dll(self.library, name).value = value


def c_type(kind: ScalarType) -> type[ctypes._SimpleCData]:
    """The type of ctypes for a scalar."""
    if kind.floating:
        return ctypes.c_float if kind.width_bits == 32 else ctypes.c_double
    return getattr(ctypes, f"c_{'' if kind.signed else 'u'}int{kind.width_bits}")


def silent_sites(built: Instrumented, data_sets: list[DataSet]) -> Iterator[int]:
    """Assignments whose change, in every way and on every data set, changes no output."""
    plain = [built.run(data) for data in data_sets]
    for site in range(len(built.sites)):
        changed = (
            built.run(data, site=site, change=change) != before
            for change in range(CHANGES)
            for data, before in zip(data_sets, plain, strict=True)
        )
        if not any(changed):
            yield site
