"""Promotion: an array element that a loop reads and writes becomes a register for the loop's duration.

An element qualifies when its indices do not change in the loop, no other access of the loop may touch it, the
loop is left only at its end, and accessing it is legal whenever the loop runs: either every run accesses it,
or its indices are in bounds. Nothing is reassociated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.accesses import Accesses, Site, escaping_labels, replace_loads
from pipelines.c.analysis.copying import FreshNames, fresh_names
from pipelines.c.analysis.facts import Facts, variables_of
from pipelines.c.arithmetic import make_binary, make_select


@dataclass(frozen=True, slots=True, kw_only=True)
class _Promotion:
    """A register that replaces a site.

    Attributes:
        load: the old value is needed.
        guarded: load and store are executed only when the loop runs.
    """

    site: Site
    register: ir.Variable
    load: bool
    guarded: bool


@dataclass(slots=True)
class _Promoter:
    """Promotes in one function; `only` restricts it to (loop, array)."""

    names: FreshNames
    only: tuple[str, str] | None = None
    registers: list[tuple[str, ir.Variable]] = field(default_factory=list[tuple[str, ir.Variable]])

    def body(self, body: tuple[ir.Statement, ...], facts: Facts) -> tuple[ir.Statement, ...]:
        """Promote in every loop of a body, innermost first."""
        statements: list[ir.Statement] = []
        for statement in body:
            bodies = tuple(self.body(b, inner) for b, inner in facts.inside(statement))
            rebuilt = ir.with_bodies(statement, bodies) if bodies else statement
            loop = loop_of(rebuilt)
            if loop is None or (self.only is not None and loop.name != self.only[0]):
                statements.append(rebuilt)
            else:
                statements.extend(self.region(rebuilt, loop, facts))
            facts.after(statement)
        return tuple(statements)

    def region(self, region: ir.Statement, loop: ir.For | ir.While, facts: Facts) -> tuple[ir.Statement, ...]:
        """Return a loop, or a block with only a loop, after promotion, with loads and stores around it."""
        stored = ir.stored_arrays((region,))
        if not stored or escaping_labels(region):
            return (region,)
        accesses = collect_region(region, loop, facts, stored)
        changed = ir.assigned_variables((region,))
        runs = runs_at_least_once(loop, facts)
        promotions = [
            promotion
            for name in sorted(stored)
            if self.only is None or self.only[1] in ("", name)
            for site in accesses.arrays[name].values()
            if (promotion := self.promotion(site, accesses, changed, runs, facts)) is not None
        ]
        if not promotions:
            return (region,)
        self.registers += [(p.site.array.name, p.register) for p in promotions]
        return self.surround(region, loop, promotions, accesses, changed, facts)

    def promotion(
        self, site: Site, accesses: Accesses, changed: frozenset[str], runs: bool, facts: Facts
    ) -> _Promotion | None:
        """Return the promotion of a site, None when it is impossible or unnecessary."""
        if not (site.stores and site.loads) or site.blocked:
            return None
        if not is_invariant(site, changed, facts) or not accesses.is_alone(site):
            return None
        place = site.places[0]
        pairs = zip(site.forms, site.array.shape, strict=True)
        bounded = site.entry or all(place.within(form, size) for form, size in pairs)
        if not (bounded or site.certain):
            return None
        guarded = not bounded and not runs
        return _Promotion(
            site=site,
            register=self.names.variable(f"{site.array.name}_r", site.array.type),
            load=not site.written_first or not (runs or guarded),
            guarded=guarded,
        )

    def surround(
        self,
        region: ir.Statement,
        loop: ir.For | ir.While,
        promotions: list[_Promotion],
        accesses: Accesses,
        changed: frozenset[str],
        facts: Facts,
    ) -> tuple[ir.Statement, ...]:
        """Return the region with registers, loads before it and stores after it."""
        before: list[ir.Statement] = []
        after: list[ir.Statement] = []
        guard: ir.Expression | None = None
        if any(p.guarded for p in promotions):
            runs = self.names.variable("runs")
            before.append(ir.Assign(variable=runs, value=_first_test(loop), line=loop.line))
            guard = ir.Read(variable=runs)
        for promotion in promotions:
            site, predicate = promotion.site, guard if promotion.guarded else None
            indices = invariant_indices(site, changed, facts)
            if promotion.load:
                load = ir.Load(array=site.array, indices=indices, line=loop.line, predicate=predicate)
                before.append(ir.Assign(variable=promotion.register, value=load, line=loop.line))
            value = ir.Read(variable=promotion.register)
            after.append(
                ir.Store(array=site.array, indices=indices, value=value, line=loop.line, predicate=predicate)
            )
        registers = {id(p.site): p.register for p in promotions}
        objects = {
            key: registers[id(site)] for key, site in accesses.of_object.items() if id(site) in registers
        }
        return (*before, use_registers(region, objects), *after)


def loop_of(statement: ir.Statement) -> ir.For | ir.While | None:
    """Return the loop that a statement is, or that is the only content of a block."""
    if isinstance(statement, ir.For | ir.While):
        return statement
    if isinstance(statement, ir.Block) and len(statement.body) == 1:
        return loop_of(statement.body[0])
    return None


def collect_region(
    region: ir.Statement, loop: ir.For | ir.While, facts: Facts, array_names: frozenset[str]
) -> Accesses:
    """Collect the accesses of a loop's iterations; accesses of its bounds are blocked."""
    accesses = Accesses(array_names=array_names)
    if isinstance(loop, ir.For):
        for inner_body, inner in _enter(region, loop, facts):
            accesses.body(inner_body, inner, certain=True)
        accesses.block_loads(loop.upper, facts)
        return accesses
    for inner_body, inner in _enter(region, loop, facts):
        if loop.test_first:
            accesses.own(loop, inner, inner.snapshot(), certain=True)
            accesses.mark_entry()
        accesses.body(inner_body, inner, certain=True)
        if not loop.test_first:
            accesses.own(loop, inner, inner.snapshot(), certain=False)
    return accesses


def _enter(
    region: ir.Statement, loop: ir.For | ir.While, facts: Facts
) -> list[tuple[tuple[ir.Statement, ...], Facts]]:
    """Return the loop's body with the facts inside it."""
    if region is loop:
        return list(facts.inside(loop))
    return [entry for body, inner in facts.inside(region) for entry in _enter(body[0], loop, inner)]


def is_invariant(site: Site, changed: frozenset[str], facts: Facts) -> bool:
    """Tell whether the indices of a site do not change with some variables."""
    for form in site.forms:
        names = variables_of(form, facts)
        if names is None or not names.isdisjoint(changed):
            return False
    return True


def invariant_indices(site: Site, changed: frozenset[str], facts: Facts) -> tuple[ir.Expression, ...]:
    """Return the index expressions of an invariant site that have the same values outside the loop."""
    return tuple(
        facts.expression_of(form)
        if any(isinstance(p, ir.Read) and p.variable.name in changed for p in ir.walk_expressions(index))
        else index
        for index, form in zip(site.indices, site.forms, strict=True)
    )


def runs_at_least_once(loop: ir.For | ir.While, facts: Facts) -> bool:
    """Tell whether a loop provably runs at least one iteration."""
    if isinstance(loop, ir.While):
        return not loop.test_first
    if loop.trip_count is not None:
        return loop.trip_count > 0
    distance = facts.read(loop.upper).plus(facts.read(loop.lower), -1)
    low, high = facts.interval(distance)
    if not distance.exact:
        return False
    match loop.comparison:
        case "lt":
            return low > 0
        case "le":
            return low >= 0
        case "gt":
            return high < 0
        case "ge":
            return high <= 0
        case _:
            return low > 0 or high < 0


def _first_test(loop: ir.For | ir.While) -> ir.Expression:
    """Return 1 when the loop runs at least one iteration from here, else 0."""
    if isinstance(loop, ir.For):
        return make_binary(loop.comparison, loop.lower, loop.upper)
    return make_binary("ne", loop.condition, ir.Constant(value=0))


def use_registers(statement: ir.Statement, objects: dict[int, ir.Variable]) -> ir.Statement:
    """Return statement with accesses, given by identity, replaced by reads and assignments of variables."""

    def visit(load: ir.Load) -> ir.Expression | None:
        register = objects.get(id(load))
        return None if register is None else ir.Read(variable=register)

    def value(expression: ir.Expression) -> ir.Expression:
        return replace_loads(expression, visit)

    def rewrite(part: ir.Statement) -> ir.Statement:
        register = objects.get(id(part))
        bodies = tuple(tuple(rewrite(s) for s in b) for b in ir.child_bodies(part))
        rebuilt = ir.map_own_expressions(ir.with_bodies(part, bodies) if bodies else part, value)
        if register is None or not isinstance(rebuilt, ir.Store):
            return rebuilt
        stored = rebuilt.value
        if rebuilt.predicate is not None:
            stored = make_select(rebuilt.predicate, stored, ir.Read(variable=register))
        return ir.Assign(variable=register, value=stored, line=rebuilt.line)

    return rewrite(statement)


def promote_accumulators(function: ir.Function) -> ir.Function:
    """Keep every accumulated element of a loop in a register, across as many loops as is legal.

    Args:    function: any valid function.
    Returns: an equivalent function; each promoted element is loaded before its loop, when some path reads
             it before writing, and stored after it. A loop that may run no iteration guards both by its own
             test unless the element is provably in bounds.
    Source:  Lu and Cooper 1997, "Register promotion in C programs", with affine tests for aliases.
    """
    promoter = _Promoter(names=fresh_names(function))
    return replace(function, body=promoter.body(function.body, Facts()))


def promote_in_loop(
    function: ir.Function, loop: str, array: str
) -> tuple[ir.Function, tuple[ir.Variable, ...]]:
    """Promote elements of one array out of one loop.

    Returns: the function and the new registers; none when no element of the array can be promoted.
    """
    promoter = _Promoter(names=fresh_names(function), only=(loop, array))
    body = promoter.body(function.body, Facts())
    return replace(function, body=body), tuple(r for _, r in promoter.registers)
