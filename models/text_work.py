"""The work of a program by its text: operations by kind, weighted by the iterations of the loops around them.

Only the canonical syntax tree is read, so a program that high-level synthesis refuses has its work, too.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pycparser import c_ast

from models.query import Query
from models.trips import known_trips
from pipelines.programs.canonical import TOP, CanonicalProgram, loops_of
from pipelines.programs.facts import UNKNOWN_TRIPS

DIRECTIVES = ("pipeline", "unroll", "parallel", "partition", "flatten", "tile", "reduction", "cache")
CLASSES = ("int", "long", "float", "double")
KINDS = (
    *(f"{kind}_{kind_of}" for kind in ("add", "multiply", "divide") for kind_of in CLASSES),
    *("compare", "logic", "load", "store", "branch", "assign", "root"),
)
SHARED = tuple(
    kind for kind in KINDS if kind.startswith(("multiply", "divide")) or kind.endswith(("_float", "_double"))
)
"""Kinds whose operations share units in different cycles."""
CYCLES: Mapping[str, float] = {
    **{"add_float": 2, "add_double": 2, "multiply_int": 2, "multiply_long": 2, "multiply_float": 2},
    **{"multiply_double": 2, "divide_int": 34, "divide_long": 66, "divide_float": 6, "divide_double": 11},
    **{"store": 1, "branch": 1, "root": 15},
}
"""Cycles of an operation that waits for the one before, by kind; a load takes the memory's delay."""
AREAS_UM2: Mapping[str, float] = {
    **{"add_int": 6e3, "add_long": 12e3, "add_float": 58e3, "add_double": 127e3},
    **{"multiply_int": 109e3, "multiply_long": 369e3, "multiply_float": 163e3, "multiply_double": 591e3},
    **{"divide_int": 46e3, "divide_long": 87e3, "divide_float": 254e3, "divide_double": 919e3},
    **{"root": 131e3, "compare": 2e3, "logic": 1e3, "load": 2e3, "store": 2e3, "branch": 1e3, "assign": 1e3},
}
"""Area of the unit of an operation in osu018, by kind."""
FLIP_FLOP_UM2 = 100.0
ACTIVE_SHARE = 4.0
"""Power of an area that computes in a cycle, over that of one that is clocked."""
_TYPED = ("add", "multiply", "divide")
_KIND_OF = {
    **dict.fromkeys(("+", "-"), "add"),
    "*": "multiply",
    **dict.fromkeys(("/", "%"), "divide"),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), "compare"),
    **dict.fromkeys(("&", "|", "^", "<<", ">>", "&&", "||"), "logic"),
}
MOST_READ = 1 << 18
"""Expressions and statements that are read, each as often as its function is called; as for the front end."""


@dataclass(slots=True)
class Work:
    """What a program does.

    Attributes:
        executed: operations by kind over the whole run. written: those of the text, once per call.
        at_once: most of a kind in one body, with the copies that directives make. units: of a kind, which the
            operations of kinds of SHARED share.
        cycles: if each operation waits for the one before, and a pipeline starts an iteration per cycle.
        iterations: of all loops. deepest: loops around a statement. unknown_loops: loops without known trips.
        variable_bits, local_bits: of scalars, and of arrays.
    """

    executed: Counter[str] = field(default_factory=Counter[str])
    written: Counter[str] = field(default_factory=Counter[str])
    at_once: Counter[str] = field(default_factory=Counter[str])
    units: Counter[str] = field(default_factory=Counter[str])
    cycles: float = 0.0
    iterations: float = 0.0
    deepest: int = 0
    unknown_loops: int = 0
    variable_bits: int = 0
    local_bits: int = 0


def work_features(query: Query, program: CanonicalProgram) -> dict[str, float]:
    """Return the work of a canonical program as features.

    Args:   query: in canonical form; its trips, scalars, directives and memory are used.
    Raises: ValueError: data, inputs or trips cannot be read.
    """
    work = work_of(query, program)
    bits = work.variable_bits + 32.0 * sum(work.units[kind] for kind in ("load", *SHARED))
    area = sum(AREAS_UM2[kind] * work.units[kind] for kind in KINDS) + FLIP_FLOP_UM2 * bits
    active = sum(AREAS_UM2[kind] * work.executed[kind] for kind in KINDS) / work.cycles
    kinds = Counter(str(own.get("kind")) for own in json.loads(query.directives))
    return {
        "memory_read_delay_cycles": float(query.memory_read_delay_cycles),
        "memory_write_delay_cycles": float(query.memory_write_delay_cycles),
        "clock_period_ns": query.clock_period_ns,
        **{f"directive_{kind}": float(kinds[kind]) for kind in DIRECTIVES},
        "log_text_area": math.log1p(area),
        "log_text_bits": math.log1p(bits),
        "log_text_power": math.log1p((area + ACTIVE_SHARE * active) / query.clock_period_ns),
        "log_text_active": math.log1p(active),
        **{f"log_units_{kind}": math.log1p(work.units[kind]) for kind in SHARED},
        **{f"log_rate_{kind}": math.log1p(work.executed[kind] / work.cycles) for kind in KINDS},
        **{f"log_written_{kind}": math.log1p(work.written[kind]) for kind in KINDS},
        **{f"log_at_once_{kind}": math.log1p(work.at_once[kind]) for kind in KINDS},
        "log_text_cycles": math.log1p(work.cycles),
        "log_text_iterations": math.log1p(work.iterations),
        "text_loop_depth": float(work.deepest),
        "text_unknown_loops": float(work.unknown_loops),
        "log_text_variable_bits": math.log1p(work.variable_bits),
        "log_text_local_bits": math.log1p(work.local_bits),
    }


def work_of(query: Query, program: CanonicalProgram) -> Work:
    """Return the work of a canonical program. Raises: as `work_features`."""
    reader = _Reader(program=program, query=query)
    for declared in program.file_objects:
        reader.declare(declared)
    whole = _Place(times=1.0, depth=0, functions=(), body=_Body())
    try:
        reader.function(TOP, whole)
    except RecursionError:
        raise ValueError("expressions, statements and calls must nest less deeply") from None
    reader.work.cycles += whole.body.cycles + 1.0
    reader.finish(whole.body, 1.0, is_pipelined=False)
    return reader.work


@dataclass(slots=True)
class _Body:
    """Operations and cycles of one iteration of a loop, other loops in it apart."""

    counts: Counter[str] = field(default_factory=Counter[str])
    cycles: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a statement stands: how often it is executed, loops, functions and the body around it."""

    times: float
    depth: int
    functions: tuple[str, ...]
    body: _Body


class _Reader:
    """Counts the operations of the statements that a function reaches."""

    def __init__(self, program: CanonicalProgram, query: Query) -> None:
        self.work = Work()
        self._left = MOST_READ
        self._functions = program.functions
        self._read_cycles = float(query.memory_read_delay_cycles)
        self._types: dict[str, str] = {}
        self._arrays: set[str] = set()
        self._values: dict[str, float] = dict(query.scalars)
        self._trips = known_trips(query)
        directives: list[dict[str, Any]] = json.loads(query.directives)
        self._copies = {
            str(own.get("loop")): float(own.get("value") or math.inf)
            for own in directives
            if own.get("kind") in ("unroll", "parallel")
        }
        self._pipelined = {str(own.get("loop")) for own in directives if own.get("kind") == "pipeline"}
        self._names = {
            id(loop): f"L{number}" if name == TOP else f"{name}_L{number}"
            for name, function in program.functions.items()
            for number, (loop, _) in enumerate(loops_of(function.body))
        }

    # ---- statements -------------------------------------------------------------------------------

    def function(self, name: str, place: _Place) -> None:
        """Count what a call of a function does; a call of one that is under way is not followed."""
        place = replace(place, functions=(*place.functions, name))
        function = self._functions[name]
        arguments = function.decl.type.args
        for parameter in arguments.params if arguments is not None else []:
            if isinstance(parameter, c_ast.Decl):
                self.declare(parameter)
        self._visit(function.body, place)

    def declare(self, node: c_ast.Decl) -> None:
        """Take up the type and bits of an object."""
        name, kind, elements = str(node.name), node.type, 1.0
        while isinstance(kind, c_ast.ArrayDecl | c_ast.PtrDecl):
            self._arrays.add(name)
            if isinstance(kind, c_ast.ArrayDecl):
                elements *= _plain(kind.dim) or 1.0
            kind = kind.type
        words = _words(kind)
        self._types[name] = _class_of(words)
        bits = 64 if self._types[name] in ("double", "long") else 8 if "char" in words else 32
        if name in self._arrays:
            self.work.local_bits += int(bits * elements)
        else:
            self.work.variable_bits += bits

    def _visit(self, node: Any, place: _Place) -> None:
        self._left -= 1
        if self._left < 0:
            raise ValueError(
                f"a program must have at most {MOST_READ:,} expressions and statements, each as often as its "
                "function is called, got more"
            )
        match node:
            case None:
                return
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                self._loop(node, place)
            case c_ast.Decl():
                self.declare(node)
                self._visit(node.init, place)
            case c_ast.If():
                self._count("branch", place)
                self._visit(node.cond, place)
                half = replace(place, times=place.times / 2)
                self._visit(node.iftrue, half)
                self._visit(node.iffalse, half)
            case c_ast.Assignment():
                self._assignment(node, place)
            case c_ast.ArrayRef():
                self._count("load", place)
                self._subscripts(node, place)
            case c_ast.FuncCall():
                self._call(node, place)
            case _:
                self._operator(node, place)
                for _, part in node.children():
                    self._visit(part, place)

    def _operator(self, node: Any, place: _Place) -> None:
        match node:
            case c_ast.BinaryOp():
                self._count(self._kind(node.op, node), place)
            case c_ast.UnaryOp() if node.op in ("p++", "p--", "++", "--", "-"):
                self._count(f"add_{self._type_of(node.expr)}", place)
            case c_ast.TernaryOp():
                self._count("branch", place)
            case _:
                return

    def _assignment(self, node: c_ast.Assignment, place: _Place) -> None:
        is_store = not isinstance(node.lvalue, c_ast.ID)
        if node.op != "=":
            self._count(self._kind(node.op[:-1], node.lvalue), place)
            self._visit(node.lvalue, place)
        elif is_store:
            self._subscripts(node.lvalue, place)
        self._count("store" if is_store else "assign", place)
        self._visit(node.rvalue, place)

    def _subscripts(self, node: Any, place: _Place) -> None:
        """Count the subscripts of an access of any number of dimensions, not the access."""
        if isinstance(node, c_ast.ArrayRef):
            self._subscripts(node.name, place)
            self._visit(node.subscript, place)
        elif not isinstance(node, c_ast.ID):
            for _, part in node.children():
                self._visit(part, place)

    def _call(self, node: c_ast.FuncCall, place: _Place) -> None:
        name = str(getattr(node.name, "name", ""))
        self._visit(node.args, place)
        if name in place.functions:
            return
        if name in self._functions:
            self.function(name, place)
        elif "sqrt" in name:
            self._count("root", place)

    def _kind(self, operator: str, node: Any) -> str:
        kind = _KIND_OF.get(operator, "logic")
        return f"{kind}_{self._type_of(node)}" if kind in _TYPED else kind

    def _count(self, kind: str, place: _Place) -> None:
        self.work.executed[kind] += place.times  # pyright: ignore[reportArgumentType]
        self.work.written[kind] += 1
        place.body.counts[kind] += 1
        place.body.cycles += self._read_cycles if kind == "load" else CYCLES.get(kind, 0.0)

    # ---- loops ------------------------------------------------------------------------------------

    def _loop(self, node: Any, place: _Place) -> None:
        name = self._names.get(id(node), "")
        trips = self._trips_of(node, name)
        copies = min(self._copies.get(name, 1.0), trips)
        body = _Body(cycles=1.0)
        inside = _Place(
            times=place.times * trips, depth=place.depth + 1, functions=place.functions, body=body
        )
        if isinstance(node, c_ast.For):
            self._visit(node.init, place)
            self._visit(node.next, inside)
        self._visit(node.cond, inside)
        self._visit(node.stmt, inside)
        self.work.deepest = max(self.work.deepest, inside.depth)
        self.work.iterations += inside.times
        is_pipelined = name in self._pipelined
        if is_pipelined:
            self.work.cycles += place.times * (body.cycles + trips / copies - 1.0)
        else:
            self.work.cycles += inside.times * body.cycles / math.sqrt(copies)
        self.finish(body, copies, is_pipelined=is_pipelined)

    def finish(self, body: _Body, copies: float, *, is_pipelined: bool) -> None:
        """Take up the units of a body; operations share them, except where an iteration starts each cycle."""
        for kind, number in body.counts.items():
            self.work.at_once[kind] = max(self.work.at_once[kind], round(number * copies))
            if kind in SHARED:
                units = round(copies * (number if is_pipelined else 1))
                self.work.units[kind] = max(self.work.units[kind], units)
            else:
                self.work.units[kind] += round(number * copies)

    def _trips_of(self, node: Any, name: str) -> float:
        """Return the mean iterations of a loop; its variable is known at its mean in the body."""
        trips = None
        if isinstance(node, c_ast.For):
            variable, start, step = _counter_of(node)
            low = None if start is None else self._mean(start)
            if variable is not None and low is not None and step:
                trips = self._counted(node.cond, variable, low, step)
                known = trips if trips is not None else self._trips.get(name, UNKNOWN_TRIPS)
                self._values[variable] = low + step * (max(1.0, known) - 1.0) / 2.0
        if trips is None:
            trips = self._trips.get(name)
            self.work.unknown_loops += trips is None
        return max(1.0, UNKNOWN_TRIPS if trips is None else trips)

    def _counted(self, condition: Any, variable: str, low: float, step: float) -> float | None:
        """Return the mean iterations of a counted loop, None where its end has no known mean."""
        if not isinstance(condition, c_ast.BinaryOp) or getattr(condition.left, "name", "") != variable:
            return None
        end = self._mean(condition.right)
        if end is None:
            return None
        last = math.copysign(1.0, step) if condition.op in ("<=", ">=") else 0.0
        return max(0.0, math.ceil((end - low + last) / step - 1e-9))

    def _mean(self, node: Any) -> float | None:
        """Return the value of an expression at the means of variables, None where one is unknown."""
        match node:
            case c_ast.Constant():
                return _plain(node)
            case c_ast.ID():
                return self._values.get(node.name)
            case c_ast.Cast():
                return self._mean(node.expr)
            case c_ast.UnaryOp() if node.op == "-":
                value = self._mean(node.expr)
                return None if value is None else -value
            case c_ast.BinaryOp():
                left, right = self._mean(node.left), self._mean(node.right)
                return None if left is None or right is None else _result(node.op, left, right)
            case _:
                return None

    def _type_of(self, node: Any) -> str:
        """Return the class of an expression's type."""
        match node:
            case c_ast.ID():
                return self._types.get(node.name, "int")
            case c_ast.Constant():
                return node.type if node.type in ("float", "double") else "int"
            case c_ast.Cast():
                return _class_of(_words(node.to_type.type))
            case c_ast.BinaryOp():
                return max(self._type_of(node.left), self._type_of(node.right), key=CLASSES.index)
            case c_ast.TernaryOp():
                return max(self._type_of(node.iftrue), self._type_of(node.iffalse), key=CLASSES.index)
            case c_ast.ArrayRef():
                return self._type_of(node.name)
            case c_ast.UnaryOp():
                return self._type_of(node.expr)
            case c_ast.FuncCall():
                function = self._functions.get(getattr(node.name, "name", ""))
                return "double" if function is None else _class_of(_words(function.decl.type.type))
            case _:
                return "int"


def _words(kind: Any) -> list[str]:
    """Return the words of a basic type; those of int for any other."""
    while isinstance(kind, c_ast.ArrayDecl | c_ast.PtrDecl):
        kind = kind.type
    return list(getattr(getattr(kind, "type", None), "names", ["int"]))


def _class_of(words: Sequence[str]) -> str:
    return next((word for word in ("double", "float", "long") if word in words), "int")


def _counter_of(node: c_ast.For) -> tuple[str | None, Any, float | None]:
    """Return the variable of a loop, its start, and its step where that is a constant."""
    match node.init:
        case c_ast.DeclList():
            variable, start = str(node.init.decls[0].name), node.init.decls[0].init
        case c_ast.Assignment() if node.init.op == "=" and isinstance(node.init.lvalue, c_ast.ID):
            variable, start = str(node.init.lvalue.name), node.init.rvalue
        case _:
            return None, None, None
    return variable, start, _step_of(node.next)


def _plain(node: Any) -> float | None:
    try:
        return float(str(node.value).rstrip("uUlLfF"))
    except (AttributeError, ValueError):
        return None


def _step_of(node: Any) -> float | None:
    match node:
        case c_ast.UnaryOp() if node.op in ("p++", "++"):
            return 1.0
        case c_ast.UnaryOp() if node.op in ("p--", "--"):
            return -1.0
        case c_ast.Assignment() if node.op in ("+=", "-="):
            value = _plain(node.rvalue)
            return None if value is None else value if node.op == "+=" else -value
        case c_ast.Assignment() if node.op == "=" and isinstance(node.rvalue, c_ast.BinaryOp):
            value = _plain(node.rvalue.right)
            return None if value is None else value if node.rvalue.op == "+" else -value
        case _:
            return None


def _result(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right:
            return left / right
        case "<<" if 0 <= right < 32:
            return left * 2.0**right
        case ">>" if 0 <= right < 32:
            return left / 2.0**right
        case _:
            return None
