"""A function of the structured IR as MLIR text: func, arith, memref, and scf or cf.

A loop carries a bit that says whether another iteration runs; the condition is computed before the loop and
at the end of its body. `scf.while` then only tests that bit in its condition; the lowering to Calyx supports
nothing else there.

`StructuredWriter` writes for Calyx: memories are allocated in the function (so that they become sequential
ones with an enable each), a condition is a loop that runs at most once, because the lowering to Calyx does
not take `scf.if`. `BranchingWriter` writes for Handshake: blocks with arguments; memories are
arguments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipelines.c import Liveness, ir, live_after, make_binary
from pipelines.circt.expressions import Values, memory_type, type_text

Body = tuple[ir.Statement, ...]
Emit = Callable[[], None]


@dataclass(slots=True, kw_only=True)
class _Carried:
    """Variables that a loop or a condition changes and that are read afterwards."""

    variables: list[ir.Variable]

    @property
    def types(self) -> list[str]:
        return [type_text(v.type) for v in self.variables]


@dataclass(slots=True)
class Writer(ABC):
    """Base of both styles: the walk over statements.

    Attributes:
        function: without blocks and exits; see `preparation.py`.
        out: lines written so far.
    """

    function: ir.Function
    out: Values
    walk: Liveness
    variables: dict[str, ir.Variable]
    swapped_quotients: ClassVar[bool] = False

    @abstractmethod
    def loop(self, runs: str, carried: _Carried, body: Callable[[], str]) -> None:
        """Repeat a body while a bit holds; `body` writes it and gives the bit for the next iteration."""

    @abstractmethod
    def branch(self, condition: str, carried: _Carried, then: Emit, otherwise: Emit | None) -> None:
        """Write one body or the other."""

    @abstractmethod
    def text(self) -> str:
        """Return the whole module."""

    def statements(self, body: Body) -> None:
        """Write every statement but the last `Return`, in order."""
        for statement in body:
            match statement:
                case ir.Assign():
                    self.out.values[statement.variable.name] = self.out.value(statement.value)
                case ir.Store():
                    self.store(statement)
                case ir.If():
                    self.condition(statement)
                case ir.For():
                    self.counted(statement)
                case ir.While():
                    self.conditional(statement)
                case _:
                    pass  # Return is written by `text`; blocks and exits are gone

    def carried(self, names: frozenset[str]) -> _Carried:
        """Return the variables in order of their names."""
        return _Carried(variables=[self.variables[n] for n in sorted(names)])

    def store(self, statement: ir.Store) -> None:
        """Write a store that is executed if its predicate holds."""
        if statement.predicate is None:
            self.out.store(statement)
            return
        holds = self.out.condition(statement.predicate)
        self.branch(holds, _Carried(variables=[]), lambda: self.out.store(statement), None)

    def condition(self, statement: ir.If) -> None:
        """Write an `if` with two bodies."""
        holds = self.out.condition(statement.condition)
        carried = self.carried(self.walk.after[id(statement)])
        otherwise = (lambda: self.statements(statement.otherwise)) if statement.otherwise else None
        self.branch(holds, carried, lambda: self.statements(statement.then), otherwise)

    def loop_carried(self, loop: ir.For | ir.While) -> _Carried:
        """Return the variables that an iteration changes and that later iterations or statements read."""
        needed = self.walk.exposed(loop) | self.walk.after[id(loop)]
        own = {loop.variable.name} if isinstance(loop, ir.For) else set[str]()
        return self.carried(frozenset(needed & ir.assigned_variables(loop.body)) | own)

    def counted(self, loop: ir.For) -> None:
        """Write a counted loop."""
        read = ir.Read(variable=loop.variable)
        step = make_binary("add", read, ir.Constant(value=loop.step, type=loop.variable.type))
        test = make_binary(loop.comparison, read, loop.upper)
        self.out.values[loop.variable.name] = self.out.value(loop.lower)

        def body() -> str:
            self.statements(loop.body)
            self.out.values[loop.variable.name] = self.out.value(step)
            return self.out.condition(test)

        self.loop(self.out.condition(test), self.loop_carried(loop), body)

    def conditional(self, loop: ir.While) -> None:
        """Write a loop with a condition, tested first or last."""
        runs = self.out.condition(loop.condition) if loop.test_first else self.out.truth(True)

        def body() -> str:
            self.statements(loop.body)
            return self.out.condition(loop.condition)

        self.loop(runs, self.loop_carried(loop), body)

    def inputs(self, carried: _Carried) -> list[str]:
        """Return the current values of the carried variables."""
        return [self.out.variable(v) for v in carried.variables]

    def scoped(self, carried: _Carried, names: Sequence[str], write: Callable[[], str]) -> str:
        """Write a body whose carried variables have other names; the values outside are kept."""
        outside = dict(self.out.values)
        self.bind(carried, names)
        result = write()
        self.out.values = outside
        return result

    def bind(self, carried: _Carried, names: Sequence[str]) -> None:
        """Give the carried variables these values from here on."""
        for variable, name in zip(carried.variables, names, strict=True):
            self.out.values[variable.name] = name

    def result(self) -> str:
        """Return the function's return operation."""
        last = self.function.body[-1] if self.function.body else None
        if not isinstance(last, ir.Return) or last.value is None:
            return "return"
        return f"return {self.out.value(last.value)} : {type_text(ir.type_of(last.value))}"

    def signature(self, memories: Sequence[ir.Array]) -> str:
        """Return the function's head: its scalars, then memories."""
        parameters = [
            f"%s_{p.name}: {type_text(p.type)}"
            for p in self.function.parameters
            if isinstance(p, ir.Variable)
        ]
        parameters += [f"%m_{a.name}: {memory_type(a)}" for a in memories]
        returns = self.function.returns
        result = "" if returns is None else f" -> {type_text(returns)}"
        return f"func.func @{self.function.name}({', '.join(parameters)}){result} {{"


@dataclass(slots=True)
class StructuredWriter(Writer):
    """Loops as `scf.while`; conditions as loops that run at most once; memories allocated."""

    def loop(self, runs: str, carried: _Carried, body: Callable[[], str]) -> None:
        """See `Writer.loop`."""
        out, types = self.out, ", ".join(["i1", *carried.types])
        initial = [runs, *self.inputs(carried)]
        tested, stepped = ([out.fresh() for _ in initial] for _ in range(2))
        results = out.fresh()
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(tested, initial, strict=True))
        out.line(f"{results}:{len(initial)} = scf.while ({pairs}) : ({types}) -> ({types}) {{")
        again = out.new(f"arith.cmpi ne, {tested[0]}, {out.truth(False)} : i1")
        out.line(f"scf.condition({again}) {', '.join(tested)} : {types}")
        declared = zip(stepped, ["i1", *carried.types], strict=True)
        out.line("} do {")
        out.line(f"^bb0({', '.join(f'{name}: {kind}' for name, kind in declared)}):")

        def write() -> str:
            result = body()
            out.line(f"scf.yield {', '.join([result, *self.inputs(carried)])} : {types}")
            return result

        self.scoped(carried, stepped[1:], write)
        out.line("}")
        self.bind(carried, [f"{results}#{k}" for k in range(1, len(initial))])

    def branch(self, condition: str, carried: _Carried, then: Emit, otherwise: Emit | None) -> None:
        """See `Writer.branch`."""

        def once(write: Emit) -> Callable[[], str]:
            def body() -> str:
                write()
                return self.out.truth(False)

            return body

        self.loop(condition, carried, once(then))
        if otherwise is not None:
            other = self.out.new(f"arith.xori {condition}, {self.out.truth(True)} : i1")
            self.loop(other, carried, once(otherwise))

    def text(self) -> str:
        """See `Writer.text`."""
        self.out.line(self.signature(()))
        for array in self.function.arrays:
            self.out.line(f"%m_{array.name} = memref.alloc() : {memory_type(array)}")
        self.statements(self.function.body)
        self.out.line(self.result())
        return "\n".join([*_indented(self.out.lines), "}", ""])


@dataclass(slots=True)
class BranchingWriter(Writer):
    """Loops and conditions as blocks with arguments; memories are arguments."""

    blocks: int = 0
    swapped_quotients: ClassVar[bool] = True  # the wheel's lowering from Handshake has them exchanged

    def block(self, stem: str) -> str:
        """Return a label no block has yet."""
        self.blocks += 1
        return f"^{stem}{self.blocks}"

    def jump(self, label: str, values: Sequence[str], types: Sequence[str]) -> str:
        """Return a block with the values it gets."""
        return f"{label}({', '.join(values)} : {', '.join(types)})" if values else label

    def begin(self, label: str, carried: _Carried) -> list[str]:
        """Start a block with one argument per carried variable; return their names."""
        names = [self.out.fresh() for _ in carried.variables]
        declared = ", ".join(f"{n}: {t}" for n, t in zip(names, carried.types, strict=True))
        self.out.line(f"{label}({declared}):" if names else f"{label}:")
        return names

    def loop(self, runs: str, carried: _Carried, body: Callable[[], str]) -> None:
        """See `Writer.loop`: a head that tests the bit, because a block that branches to itself is lowered
        wrongly."""
        out, types = self.out, ["i1", *carried.types]
        head, inside, after = (self.block(stem) for stem in ("head", "body", "after"))

        def again(bit: str) -> str:
            out.line(f"cf.br {self.jump(head, [bit, *self.inputs(carried)], types)}")
            return bit

        again(runs)
        bit = out.fresh()
        names = [out.fresh() for _ in carried.variables]
        declared = ", ".join(f"{n}: {t}" for n, t in zip([bit, *names], types, strict=True))
        out.line(f"{head}({declared}):")
        out.line(f"cf.cond_br {bit}, {inside}, {after}")
        out.line(f"{inside}:")
        self.scoped(carried, names, lambda: again(body()))
        out.line(f"{after}:")
        self.bind(carried, names)

    def branch(self, condition: str, carried: _Carried, then: Emit, otherwise: Emit | None) -> None:
        """See `Writer.branch`."""
        out, types = self.out, carried.types
        labels = [self.block(stem) for stem in ("then", "else", "join")]
        out.line(f"cf.cond_br {condition}, {labels[0]}, {labels[1]}")
        for label, write in zip(labels, (then, otherwise or (lambda: None)), strict=False):
            out.line(f"{label}:")

            def arm(write: Emit = write) -> str:
                write()
                out.line(f"cf.br {self.jump(labels[2], self.inputs(carried), types)}")
                return ""

            self.scoped(_Carried(variables=[]), [], arm)
        self.bind(carried, self.begin(labels[2], carried))

    def text(self) -> str:
        """See `Writer.text`."""
        self.out.line(self.signature(self.function.arrays))
        self.statements(self.function.body)
        self.out.line(self.result())
        return "\n".join([*_indented(self.out.lines), "}", ""])


def _indented(lines: Sequence[str]) -> list[str]:
    """Return the lines with two spaces a level of braces."""
    indented: list[str] = []
    depth = 0
    for line in lines:
        level = depth - line.startswith("}") - line.startswith("^")
        indented.append("  " * max(level, 0) + line)
        depth += line.count("{") - line.count("}")
    return indented


def _all_variables(function: ir.Function) -> dict[str, ir.Variable]:
    variables = {p.name: p for p in function.parameters if isinstance(p, ir.Variable)}
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.Assign | ir.For):
            variables[statement.variable.name] = statement.variable
    return variables


def mlir_text(function: ir.Function, *, style: type[Writer]) -> str:
    """Return a function as MLIR text.

    Args:    function: of `preparation.prepare`; style: `StructuredWriter` or `BranchingWriter`.
    Returns: a module of one function whose arguments are the scalars in order, then (branching style) the
             arrays in order of `function.arrays`.
    Raises:  NotLowered: a floating type.
    """
    memories = {a.name: f"%m_{a.name}" for a in function.arrays}
    out = Values(memories, style.swapped_quotients)
    for parameter in function.parameters:
        if isinstance(parameter, ir.Variable):
            out.values[parameter.name] = f"%s_{parameter.name}"
    return style(function, out, live_after(function), _all_variables(function)).text()
