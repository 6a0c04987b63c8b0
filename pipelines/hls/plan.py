"""Order of the transformations: directives applied to the structured IR, each with its outcome.

Directives are attached to the loops first, so that copies of a loop carry them along; the outcome of a
directive covers all copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.simplify import tidy
from pipelines.c.directives import DirectiveOutcome, directive_json
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.cache import CacheReport, cache_array
from pipelines.hls.transforms.chains import balance_chains
from pipelines.hls.transforms.exits import exits_to_flags
from pipelines.hls.transforms.forward import forward_stores
from pipelines.hls.transforms.ifconversion import convert_ifs
from pipelines.hls.transforms.nests import flatten_nest, tile_loop
from pipelines.hls.transforms.parallel import parallelise
from pipelines.hls.transforms.partition import partition_array
from pipelines.hls.transforms.promote import promote_accumulators
from pipelines.hls.transforms.reduction import reduce_tree
from pipelines.hls.transforms.registers import arrays_to_registers
from pipelines.hls.transforms.unroll import unroll_inner, unroll_loop
from pipelines.hls.units.catalogue import unit_for

Loop = ir.For | ir.While


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformOptions:
    """Permissions and thresholds of the transformations.

    Attributes:
        unsafe_math: floating sums may be reassociated.
        register_threshold_elements: local arrays of at most this many elements become registers.
        flatten_perfect_nests: a pipelined loop is flattened with the perfect nest around it.
    """

    unsafe_math: bool = False
    register_threshold_elements: int = 32
    flatten_perfect_nests: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Decision about one directive, or about one copy of its loop."""

    directive: ir.Directive
    applied: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformedProgram:
    """A function ready to be lowered.

    Attributes:
        intervals: requested initiation interval of each loop to be pipelined, by the loop's name.
        pipelines: the directive behind each of them.
        decisions: on every directive except pipelines that are still to be scheduled.
        caches: buffers made for off-chip arrays.
    """

    function: ir.Function
    intervals: dict[str, int]
    pipelines: dict[str, ir.Directive]
    decisions: tuple[Decision, ...]
    caches: tuple[CacheReport, ...]


def directive_outcomes(
    directives: Sequence[ir.Directive], decisions: Sequence[Decision]
) -> list[DirectiveOutcome]:
    """Return one outcome per directive: applied when it was for every copy of its loop, with all reasons."""
    gone = Decision(directive=ir.Directive(kind=""), applied=False, reason="the loop never runs or is gone")
    outcomes: list[DirectiveOutcome] = []
    for directive in directives:
        matching = [d for d in decisions if d.directive == directive] or [gone]
        outcomes.append(
            DirectiveOutcome(
                directive=directive_json(directive),
                applied=all(d.applied for d in matching),
                reason="; ".join(dict.fromkeys(d.reason for d in matching)),
            )
        )
    return outcomes


def loops_of(body: tuple[ir.Statement, ...]) -> Iterator[Loop]:
    """Yield every loop of a body, inner before outer."""
    for statement in body:
        for inner in ir.child_bodies(statement):
            yield from loops_of(inner)
        if isinstance(statement, ir.For | ir.While):
            yield statement


def attach(function: ir.Function, directives: Sequence[ir.Directive]) -> ir.Function:
    """Return the function whose loops carry exactly these directives."""

    def visit(statement: ir.Statement) -> tuple[ir.Statement, ...]:
        if not isinstance(statement, ir.For | ir.While):
            return (statement,)
        own = tuple(d for d in directives if d.loop == statement.name)
        return (replace(statement, directives=own),)

    free = tuple(d for d in directives if not d.loop)
    return replace(function, body=ir.map_statements(function.body, visit), directives=free)


def _strip(function: ir.Function, loop: str, directive: ir.Directive) -> ir.Function:
    def visit(statement: ir.Statement) -> tuple[ir.Statement, ...]:
        if isinstance(statement, ir.For | ir.While) and statement.name == loop:
            kept = tuple(d for d in statement.directives if d != directive)
            return (replace(statement, directives=kept),)
        return (statement,)

    return replace(function, body=ir.map_statements(function.body, visit))


def _carrying(function: ir.Function, kinds: Sequence[str]) -> tuple[Loop, ir.Directive] | None:
    for loop in loops_of(function.body):
        for directive in loop.directives:
            if directive.kind in kinds:
                return loop, directive
    return None


@dataclass(slots=True)
class _Planner:
    function: ir.Function
    options: TransformOptions
    decisions: list[Decision] = field(default_factory=list[Decision])
    caches: list[CacheReport] = field(default_factory=list[CacheReport])

    def record(self, directive: ir.Directive, applied: bool, reason: str) -> None:
        self.decisions.append(Decision(directive=directive, applied=applied, reason=reason))

    def each(self, kinds: Sequence[str], apply: Callable[[Loop, ir.Directive], str]) -> None:
        """Apply the directives of these kinds, inner loops first; `apply` returns the reason text."""
        while (pair := _carrying(self.function, kinds)) is not None:
            loop, directive = pair
            self.function = _strip(self.function, loop.name, directive)
            self.attempt(directive, lambda loop=loop, directive=directive: apply(loop, directive))

    def attempt(self, directive: ir.Directive, apply: Callable[[], str]) -> bool:
        try:
            self.record(directive, True, apply())
        except NotApplicable as error:
            self.record(directive, False, str(error))
            return False
        return True

    # ---- one directive each -----------------------------------------------------------------------

    def tile(self, loop: Loop, directive: ir.Directive) -> str:
        self.function = tile_loop(self.function, loop.name, directive.value or 1)
        return f"tiled by {directive.value}"

    def cache(self, loop: Loop, directive: ir.Directive) -> str:
        self.function, report = cache_array(self.function, directive.variable, loop.name)
        self.caches.append(report)
        moved = (
            "bytes that depend on data"
            if report.bytes_in is None or report.bytes_out is None
            else f"{report.bytes_in} bytes in, {report.bytes_out} bytes out"
        )
        return f"a buffer of {report.buffer_elements} elements, {moved}"

    def reduce(self, loop: Loop, directive: ir.Directive) -> str:
        self.function = reduce_tree(
            self.function,
            loop.name,
            directive.variable,
            directive.value,
            unsafe_math=self.options.unsafe_math,
        )
        return f"{directive.variable} accumulates in parallel parts that a tree joins"

    def unroll(self, loop: Loop, directive: ir.Directive) -> str:
        outcome = "unrolled fully" if directive.value is None else f"unrolled by {directive.value}"
        if directive.kind == "unroll":
            self.function = unroll_loop(self.function, loop.name, directive.value)
            return outcome
        self.function, waits = parallelise(
            self.function, loop.name, directive.value, unsafe_math=self.options.unsafe_math
        )
        return outcome if waits is None else f"{outcome}, but its iterations wait for each other: {waits}"

    # ---- steps ------------------------------------------------------------------------------------

    def unroll_below_pipelines(self) -> None:
        """Unroll the inner loops of pipelined loops fully; where this fails the loop is not pipelined."""
        refused: set[str] = set()
        while (pair := self.nest_to_unroll(refused)) is not None:
            loop, directive = pair
            try:
                self.function = unroll_inner(self.function, loop.name)
            except NotApplicable as error:
                self.record(directive, False, str(error))
                self.function = _strip(self.function, loop.name, directive)
                refused.add(loop.name)

    def nest_to_unroll(self, refused: set[str]) -> tuple[Loop, ir.Directive] | None:
        outermost_first = reversed(list(loops_of(self.function.body)))
        for loop in outermost_first:
            if loop.name in refused or not any(True for _ in loops_of(loop.body)):
                continue
            for directive in loop.directives:
                if directive.kind == "pipeline":
                    return loop, directive
        return None

    def part_sums(self) -> None:
        """Split floating sums of pipelined loops into as many partial sums as the adder has cycles."""
        if not self.options.unsafe_math:
            return
        reduced = {d.directive.loop for d in self.decisions if d.applied and d.directive.kind == "reduction"}
        for loop, _ in self.pipelined():
            if loop.name in reduced:
                continue
            sums = [
                s.variable.type
                for s in ir.walk_statements(loop.body)
                if isinstance(s, ir.Assign) and s.variable.type.floating
            ]
            unit = unit_for("add", sums[0], sums[0]) if sums else None
            if unit is None:
                continue
            try:
                self.function = reduce_tree(
                    self.function, loop.name, "", unit.latency_cycles, unsafe_math=True
                )
            except NotApplicable:
                continue  # no accumulator, or another read of it

    def partition(self) -> None:
        """Apply the partitions that caches need, then the requested ones."""
        for directive in dict.fromkeys(d for c in self.caches for d in c.partitions):
            if any(a.name == directive.variable for a in self.function.arrays):  # nothing uses it
                self.partition_one(directive)
        for directive in self.function.directives:
            self.attempt(directive, lambda directive=directive: self.apply_partition(directive))

    def apply_partition(self, directive: ir.Directive) -> str:
        if any(c.array == directive.variable for c in self.caches):
            raise NotApplicable(f"{directive.variable} is cached, its buffer is in banks for 512-bit words")
        return self.partition_one(directive)

    def partition_one(self, directive: ir.Directive) -> str:
        self.function = partition_array(
            self.function, directive.variable, directive.style, directive.value, directive.dimension or 0
        )
        what = directive.style if directive.value is None else f"{directive.style} by {directive.value}"
        return f"partitioned {what}"

    def flatten(self) -> None:
        self.each(("flatten",), self.flatten_one)
        if not self.options.flatten_perfect_nests:
            return
        for loop, _ in self.pipelined():
            try:
                self.function = flatten_nest(self.function, loop.name, perfect_only=True)
            except NotApplicable:
                continue  # it was not requested

    def flatten_one(self, loop: Loop, _: ir.Directive) -> str:
        innermost = next(iter(loops_of((loop,))))
        self.function = flatten_nest(self.function, innermost.name, perfect_only=False)
        return "flattened with the loops around it"

    def pipelined(self) -> list[tuple[Loop, ir.Directive]]:
        return [
            (loop, directive)
            for loop in loops_of(self.function.body)
            for directive in loop.directives
            if directive.kind == "pipeline"
        ]

    def fit_for_pipelines(self) -> None:
        for loop, directive in self.pipelined():
            try:
                self.function = exits_to_flags(self.function, loop.name)
            except NotApplicable as error:
                self.record(directive, False, str(error))
                self.function = _strip(self.function, loop.name, directive)
        names = frozenset(loop.name for loop, _ in self.pipelined())
        self.function = convert_ifs(self.function, names)

    def run(self) -> TransformedProgram:
        self.function = tidy(self.function)
        self.each(("tile",), self.tile)
        self.each(("cache",), self.cache)
        self.each(("reduction",), self.reduce)
        self.each(("unroll", "parallel"), self.unroll)
        self.unroll_below_pipelines()
        self.function = promote_accumulators(tidy(self.function))
        self.function = forward_stores(self.function)
        self.function = balance_chains(self.function, unsafe_math=self.options.unsafe_math)
        self.part_sums()
        self.partition()
        threshold = self.options.register_threshold_elements
        self.function = arrays_to_registers(tidy(self.function), threshold)
        self.flatten()
        self.fit_for_pipelines()
        self.function = tidy(self.function)
        pipelines = {loop.name: directive for loop, directive in self.pipelined()}
        return TransformedProgram(
            function=self.function,
            intervals={name: d.value or 1 for name, d in pipelines.items()},
            pipelines=pipelines,
            decisions=tuple(self.decisions),
            caches=tuple(self.caches),
        )


def transform(
    function: ir.Function, directives: Sequence[ir.Directive], options: TransformOptions
) -> TransformedProgram:
    """Apply directives to a function and make its pipelined loops fit for a pipeline.

    Args:    directives: all of them, those written in the source included.
    Returns: the transformed function and what was decided.
    """
    return _Planner(function=attach(function, directives), options=options).run()
