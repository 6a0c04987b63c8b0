"""Loops with independent iterations: the proof, and several iterations in parallel.

Two accesses meet in different iterations when the set of (iteration, other iteration) in which their
subscripts are equal is not empty. A value that is not affine counts as any value within its range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import islpy

from pipelines.c import ir
from pipelines.c.analysis.accesses import Key, key_of, loads_of
from pipelines.c.analysis.affine import Affine
from pipelines.c.analysis.copying import find_loop, leaves_outward
from pipelines.c.analysis.facts import Facts
from pipelines.c.analysis.liveness import exposed_reads
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.chains import accumulators, with_selected_extremes
from pipelines.hls.transforms.promote import promote_in_loop
from pipelines.hls.transforms.unroll import obstacle_to_jam, unroll_loop

OPERATION_LIMIT = 1_000_000
"""Steps of isl per pair of accesses (some tenths of a second); beyond them the pair counts as dependent. A
count, not a time, so that results are the same on every machine."""

QUESTION_LIMIT = 2000
"""Pairs of accesses per loop that isl decides; further pairs count as dependent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    array: str
    forms: tuple[Affine, ...]
    place: Facts
    line: int
    is_store: bool


def _collect(body: tuple[ir.Statement, ...], facts: Facts) -> Iterator[_Access]:
    """Yield the accesses of a body, in program order."""
    place = facts.snapshot()
    for statement in body:
        facts.before(statement)
        for expression in ir.statement_expressions(statement):
            for load in loads_of(expression):
                yield _access(load, facts, place, load.line)
        if isinstance(statement, ir.Store):
            yield _access(statement, facts, place, statement.line)
        for inner, inner_facts in facts.inside(statement):
            yield from _collect(inner, inner_facts)
        facts.after(statement)


def _access(access: ir.Load | ir.Store, facts: Facts, place: Facts, line: int) -> _Access:
    return _Access(
        array=access.array.name,
        forms=tuple(facts.read(i) for i in access.indices),
        place=place,
        line=line,
        is_store=isinstance(access, ir.Store),
    )


def _facts_at(body: tuple[ir.Statement, ...], loop: ir.For, facts: Facts) -> Facts | None:
    """Return the facts right before a loop; None when it is not in the body."""
    for statement in body:
        if statement is loop:
            return facts
        for inner, inner_facts in facts.inside(statement):
            inside = _facts_at(inner, loop, inner_facts)
            if inside is not None:
                return inside
        facts.after(statement)
    return None


# ---- two accesses -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Writer:
    """Writes the set of pairs of iterations in which two accesses meet; sides are 0 and 1.

    Attributes:
        changed: variables that change in the loop; other variables have one value on both sides.
        names: isl variable per leaf and side.
    """

    changed: frozenset[str]
    names: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    conditions: list[str] = field(default_factory=list[str])

    def leaf(self, leaf: str, side: int, facts: Facts) -> str:
        """Return the isl variable of a leaf; the constraints of a new leaf are written."""
        if not facts.mentions(Affine(((leaf, 1),)), self.changed):
            side = 0
        name = self.names.get((leaf, side))
        if name is not None:
            return name
        name = self.names[leaf, side] = f"v{len(self.names)}"
        low, high = facts.numeric(leaf)
        self.conditions.append(f"{low} <= {name} <= {high}")
        fact = facts.loops.get(leaf)
        if fact is not None:
            self.conditions += [f"{self.form(f, side, facts)} <= {name}" for f in fact.lower]
            self.conditions += [f"{name} <= {self.form(f, side, facts)}" for f in fact.upper]
            if fact.modulus > 1:
                self.conditions.append(f"({name} - {fact.residue}) mod {fact.modulus} = 0")
        else:
            self.quotient(leaf, name, side, facts)
        return name

    def quotient(self, leaf: str, name: str, side: int, facts: Facts) -> None:
        """Write the constraints of a leaf that is a quotient or a remainder by a constant."""
        match facts.leaves.known[leaf].expression:
            case ir.Binary(operator=operator, left=left, right=ir.Constant(value=value)) if value > 0:
                pass
            case _:
                return
        operand = facts.read(left)
        if not operand.exact or facts.interval(operand)[0] < 0:
            return
        text = self.form(operand, side, facts)
        if operator == "div":
            self.conditions.append(f"{name} = floor(({text})/{value})")
        elif operator == "shr" and value < 63:
            self.conditions.append(f"{name} = floor(({text})/{1 << value})")
        elif operator == "rem" or (operator == "and" and value & (value + 1) == 0):
            self.conditions.append(f"{name} = ({text}) mod {value if operator == 'rem' else value + 1}")

    def form(self, form: Affine, side: int, facts: Facts) -> str:
        terms = [f"{coefficient}*{self.leaf(leaf, side, facts)}" for leaf, coefficient in form.terms]
        return " + ".join([*terms, str(form.constant)])

    def meeting(self, first: _Access, second: _Access, variable: str) -> str:
        """Return the text of the set, which is empty when the accesses never meet in different iterations."""
        iterations = [self.leaf(variable, side, a.place) for side, a in enumerate((first, second))]
        for left, right in zip(first.forms, second.forms, strict=True):
            if left.exact and right.exact:
                texts = self.form(left, 0, first.place), self.form(right, 1, second.place)
                self.conditions.append(f"{texts[0]} = {texts[1]}")
        inner = [name for name in self.names.values() if name not in iterations]
        domain = " and ".join([f"{iterations[0]} != {iterations[1]}", *self.conditions])
        hidden = f"exists ({', '.join(inner)} : {domain})" if inner else domain
        return f"{{ [{', '.join(iterations)}] : {hidden} }}"


def _is_empty(text: str) -> bool:
    context = islpy.Context()
    context.set_max_operations(OPERATION_LIMIT)
    try:
        return bool(islpy.Set.read_from_str(context, text).is_empty())
    except islpy.Error:
        return False


@dataclass(slots=True)
class _Pairs:
    """Answers whether two accesses may touch one element in different iterations.

    Attributes:
        questions: to isl so far.
    """

    loop: ir.For
    changed: frozenset[str]
    questions: int = 0

    def may_meet(self, first: _Access, second: _Access) -> bool:
        """Decide by distance when subscripts differ by a constant, else by isl."""
        distances = [self.distance(a, b, first.place) for a, b in zip(first.forms, second.forms, strict=True)]
        known = {d for d in distances if d is not None}
        if "never" in known or 0 in known or len(known - {"any"}) > 1:
            return False
        if None not in distances:
            return True
        self.questions += 1
        if self.questions > QUESTION_LIMIT:
            return True
        return not _is_empty(_Writer(self.changed).meeting(first, second, self.loop.variable.name))

    def distance(self, first: Affine, second: Affine, facts: Facts) -> int | str | None:
        """Return the iterations between equal values of two subscripts with equal terms: `any`, `never` or a
        number.

        Returns: None when the terms differ, or do not move with the loop's variable alone.
        """
        if first.terms != second.terms or not (first.exact and second.exact):
            return None
        moving = [(t, c) for t, c in first.terms if facts.mentions(Affine(((t, 1),)), self.changed)]
        change = second.constant - first.constant
        if not moving:
            return "never" if change else "any"
        if len(moving) > 1 or moving[0][0] != self.loop.variable.name:
            return None
        stride = moving[0][1] * self.loop.step
        if change % stride:
            return "never"
        trips = self.loop.trip_count
        distance = change // stride
        return "never" if trips is not None and abs(distance) >= trips else distance


# ---- a loop -----------------------------------------------------------------------------------------


def _carried_scalar(loop: ir.For) -> str | None:
    body = with_selected_extremes(loop.body)
    carried = exposed_reads(body) & ir.assigned_variables(body)
    for name in sorted(carried - set(accumulators(body))):
        line = next(
            s.line
            for s in ir.walk_statements(body)
            if isinstance(s, ir.Assign | ir.For) and s.variable.name == name
        )
        return f"{name} carries a value from one iteration of loop {loop.name} to another (line {line})"
    return None


def _carried_element(function: ir.Function, loop: ir.For) -> str | None:
    facts = _facts_at(function.body, loop, Facts())
    if facts is None:
        raise NotApplicable(f"no loop is named {loop.name}")
    changed = ir.assigned_variables((loop,))
    pairs = _Pairs(loop, changed)
    by_array: dict[str, dict[tuple[Key, int, bool], _Access]] = {}
    for body, inner in facts.inside(loop):
        for access in _collect(body, inner):
            identity = (key_of(access.forms), id(access.place), access.is_store)
            by_array.setdefault(access.array, {}).setdefault(identity, access)
    for array, distinct in by_array.items():
        for first, second in product(distinct.values(), repeat=2):
            if not first.is_store or not pairs.may_meet(first, second):
                continue
            does = "writes" if second.is_store else "reads"
            return (
                f"line {first.line} writes an element of {array} that line {second.line} {does}"
                f" in another iteration of loop {loop.name}, as far as can be told"
            )
    return None


def loop_carries_dependence(function: ir.Function, loop: str) -> str | None:
    """Return the reason why the iterations of a loop cannot run in any order, None when they can.

    Accumulators of an associative operator (variables, or elements with unchanging indices) are no obstacle;
    neither are variables that each iteration sets before it reads them.

    Raises: NotApplicable: no such loop.
    """
    target = find_loop(function, loop)
    if isinstance(target, ir.While):
        return f"loop {loop} runs while a condition holds, which each iteration decides for the next"
    if leaves_outward(target.body):
        return f"loop {loop} is left early, which decides whether the next iteration runs"
    promoted, _ = promote_in_loop(function, loop, "")
    target = find_loop(promoted, loop)
    assert isinstance(target, ir.For)
    return _carried_scalar(target) or _carried_element(promoted, target)


def parallelise(
    function: ir.Function, loop: str, factor: int | None, *, unsafe_math: bool = False
) -> tuple[ir.Function, str | None]:
    """Run several independent iterations of a loop in parallel, its inner loops included.

    Args:
        factor: parallel iterations; None = all.
        unsafe_math: reductions of floating-point numbers may be reordered; otherwise their order is kept
            and the copies wait for one another there.
    Returns: a function that is equivalent except for roundings with `unsafe_math`, and the reason why the
             copies run in sequence, None when they are parallel.
    Raises:  NotApplicable: the loop cannot be unrolled.
    """
    reason = loop_carries_dependence(function, loop)
    if reason is None:
        reason = obstacle_to_jam(function, loop, unsafe_math=unsafe_math)
    return unroll_loop(function, loop, factor, jam=reason is None), reason
