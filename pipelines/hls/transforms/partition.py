"""Partitioning of an array into banks, so that several elements can be accessed per cycle.

An access goes directly to its bank when the residue or the range of its index determines the bank. Any other
access reads every possible bank and selects, or stores to each under a condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import gcd

from pipelines.c import ir
from pipelines.c.analysis.accesses import loaded_arrays, loads_of, replace_loads
from pipelines.c.analysis.affine import Affine
from pipelines.c.analysis.copying import Copier, FreshNames, fresh_names, leaves_outward, map_own
from pipelines.c.analysis.counting import constant_like, exact_trips, value_at
from pipelines.c.analysis.facts import Facts
from pipelines.c.arithmetic import (
    both,
    choose,
    equals,
    is_power_of_two,
    make_binary,
    quotient,
    remainder,
)
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import Bank, BankDimension

MAXIMUM_BANKS = 1024
"""Largest number of banks per array: each external bank is a pair of memory ports, each local one a
memory."""

STYLES = ("cyclic", "block", "complete")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deal:
    """Partition of one dimension of an array.

    Attributes:
        position: of the dimension, from 0.
        style: `cyclic` or `block`.
        banks: the arrays, by number.
        size: elements per bank in the dimension.
    """

    position: int
    style: str
    banks: tuple[ir.Array, ...]
    size: int

    def split(self, index: ir.Expression) -> tuple[ir.Expression, ir.Expression]:
        """Return the bank and position inside it of an index that is in bounds."""
        if self.style == "cyclic":
            return remainder(index, len(self.banks)), quotient(index, len(self.banks))
        return quotient(index, self.size), remainder(index, self.size)

    def resolve(
        self, index: ir.Expression, form: Affine, facts: Facts
    ) -> tuple[ir.Array, ir.Expression] | None:
        """Return the bank and position inside it of an index whose bank is known."""
        if self.style == "block":
            low, high = facts.interval(form)
            number = low // self.size
            if not (form.exact and low >= 0 and number == high // self.size < len(self.banks)):
                return None
            return self.banks[number], facts.expression_of(form.shifted(-number * self.size))
        factor = len(self.banks)
        number = facts.residue_modulo(form, factor)
        if number is None:
            return None
        if form.exact:
            return self.banks[number], _cyclic_index(form, number, factor, facts)
        return self.banks[number], quotient(index, factor)

    def candidates(self, form: Affine, facts: Facts) -> list[int]:
        """Return numbers of the banks that an index may refer to."""
        if self.style == "block":
            low, high = facts.interval(form) if form.exact else (0, len(self.banks) * self.size)
            high = max(low, high)  # an access that is never reached has no interval
            first, last = max(low, 0) // self.size, max(high, 0) // self.size
            return list(range(min(first, len(self.banks) - 1), min(last, len(self.banks) - 1) + 1))
        residue, modulus = facts.residue(form)
        step = gcd(modulus, len(self.banks))
        return list(range(residue % step, len(self.banks), step))


def _cyclic_index(form: Affine, number: int, factor: int, facts: Facts) -> ir.Expression:
    """Return (form - number) / factor, an integer, with the division applied to as few terms as possible."""
    whole = tuple((leaf, c // factor) for leaf, c in form.terms if c % factor == 0)
    rest = Affine(tuple((leaf, c) for leaf, c in form.terms if c % factor))
    known = (number - form.constant) % factor if rest.terms else 0
    shift = (form.constant + known - number) // factor
    place = facts.expression_of(Affine(whole, shift))
    if not rest.terms:
        return place
    if is_power_of_two(factor):
        part = quotient(facts.expression_of(rest), factor)
    else:
        part = make_binary("div", facts.expression_of(rest.shifted(-known)), ir.Constant(value=factor))
    return part if place == ir.Constant(value=0) else make_binary("add", part, place)


@dataclass(slots=True)
class _Partitioner:
    """Replaces the accesses to partitioned arrays; `pending` precedes the present statement."""

    deals: dict[str, _Deal]
    names: FreshNames
    pending: list[ir.Statement]
    line: int = 0
    inline: bool = False

    # ---- statements -------------------------------------------------------------------------------

    def body(self, body: tuple[ir.Statement, ...], facts: Facts) -> tuple[ir.Statement, ...]:
        statements: list[ir.Statement] = []
        for statement in body:
            self.line = statement.line
            self.inline = isinstance(statement, ir.While)
            facts.before(statement)
            rebuilt = map_own(statement, lambda e: self.expression(e, facts))
            stores: list[ir.Statement] = [rebuilt]
            if isinstance(statement, ir.Store) and isinstance(rebuilt, ir.Store):
                deal = self.deals.get(statement.array.name)
                if deal is not None:
                    stores = self.store(rebuilt, facts.read(statement.indices[deal.position]), deal, facts)
            statements += self.pending
            self.pending = []
            bodies = tuple(self.body(b, inner) for b, inner in facts.inside(statement))
            statements += [ir.with_bodies(rebuilt, bodies)] if bodies else stores
            facts.after(statement)
        return tuple(statements)

    def store(self, store: ir.Store, form: Affine, deal: _Deal, facts: Facts) -> list[ir.Statement]:
        """Return a store to its bank, or to each possible bank."""
        index = store.indices[deal.position]
        resolved = deal.resolve(index, form, facts)
        if resolved is not None:
            bank, place = resolved
            return [replace(store, array=bank, indices=_with_index(store.indices, deal, place))]
        number, place = (self.named(e) for e in deal.split(self.named(index)))
        value = self.named(store.value)
        indices = _with_index(store.indices, deal, place)
        return [
            replace(
                store,
                array=deal.banks[k],
                indices=indices,
                value=value,
                predicate=both(equals(number, k), store.predicate),
            )
            for k in deal.candidates(form, facts)
        ]

    # ---- expressions ------------------------------------------------------------------------------

    def expression(self, expression: ir.Expression, facts: Facts) -> ir.Expression:

        def visit(load: ir.Load) -> ir.Expression | None:
            deal = self.deals.get(load.array.name)
            if deal is None:
                return None
            predicate = None if load.predicate is None else replace_loads(load.predicate, visit)
            rebuilt = replace(
                load, indices=tuple(replace_loads(i, visit) for i in load.indices), predicate=predicate
            )
            return self.load(rebuilt, facts.read(load.indices[deal.position]), deal, facts)

        return replace_loads(expression, visit)

    def load(self, load: ir.Load, form: Affine, deal: _Deal, facts: Facts) -> ir.Expression:
        """Load a load from its bank, or a selection among the possible banks."""
        index = load.indices[deal.position]
        resolved = deal.resolve(index, form, facts)
        if resolved is not None:
            bank, place = resolved
            return replace(load, array=bank, indices=_with_index(load.indices, deal, place))
        number, place = (self.named(e) for e in deal.split(self.named(index)))
        indices = _with_index(load.indices, deal, place)
        choices: list[tuple[int, ir.Expression]] = []
        for k in deal.candidates(form, facts):
            bank = deal.banks[k]
            predicate = both(equals(number, k), load.predicate) if bank.external else load.predicate
            choices.append((k, replace(load, array=bank, indices=indices, predicate=predicate)))
        return choose(number, choices)

    def named(self, expression: ir.Expression) -> ir.Expression:
        """Return the value in a variable, unless it is one already or no statement can be inserted before."""
        if self.inline or isinstance(expression, ir.Constant | ir.Read):
            return expression
        variable = self.names.variable("at", ir.type_of(expression))
        self.pending.append(ir.Assign(variable=variable, value=expression, line=self.line))
        return ir.Read(variable=variable)


def _with_index(
    indices: tuple[ir.Expression, ...], deal: _Deal, place: ir.Expression
) -> tuple[ir.Expression, ...]:
    return (*indices[: deal.position], place, *indices[deal.position + 1 :])


# ---- banks ------------------------------------------------------------------------------------------


def _sizes(style: str, factor: int | None, elements: int) -> tuple[str, int, int]:
    """Return style, number of banks and bank size of a partitioned dimension.

    Raises: NotApplicable: a missing factor, one less than 1, or an unknown style.
    """
    if style not in STYLES:
        raise NotApplicable(f"the style of a partition must be one of {', '.join(STYLES)}, got {style!r}")
    if style == "complete":
        return "cyclic", elements, 1
    if factor is None or factor < 1:
        raise NotApplicable(f"a {style} partition must have a factor of at least 1, got {factor}")
    if factor >= elements:
        return "cyclic", elements, 1
    size = -(-elements // factor)
    return style, factor if style == "cyclic" else -(-elements // size), size


def _bank_of(function: ir.Function, array: ir.Array) -> Bank:
    """Return the part of its argument that an external array holds."""
    for bank in function.banks:
        if bank.port == array.name:
            return bank
    dimensions = tuple(BankDimension(style="whole", factor=1, number=0, size=n) for n in array.shape)
    return Bank(port=array.name, argument=array.name, shape=array.shape, dimensions=dimensions)


def _initial(array: ir.Array, deal: _Deal, number: int, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the initial values of a bank; positions past the end of the array hold 0."""
    if array.initial is None:
        return None
    values: list[int] = []
    dealt = BankDimension(style=deal.style, factor=len(deal.banks), number=number, size=deal.size)
    for place in product(*(range(n) for n in shape)):
        element = [dealt.element(i) if d == deal.position else i for d, i in enumerate(place)]
        flat = 0
        for index, size in zip(element, array.shape, strict=True):
            flat = flat * size + index
        inside = element[deal.position] < array.shape[deal.position]
        values.append(array.initial[flat] if inside else 0)
    return tuple(values)


def _deal_array(
    function: ir.Function, array: ir.Array, position: int, style: str, factor: int | None, names: FreshNames
) -> tuple[_Deal, tuple[Bank, ...]] | None:
    """Return the banks of an array, and for an external one their parts; None when it is not partitioned."""
    style, count, size = _sizes(style, factor, array.shape[position])
    if count == 1:
        return None
    shape = (*array.shape[:position], size, *array.shape[position + 1 :])
    origin = array.argument or array.name
    arrays = tuple(
        replace(array, name=names.take(f"{array.name}__{k}"), shape=shape, argument=origin, initial=None)
        for k in range(count)
    )
    deal = _Deal(position=position, style=style, banks=arrays, size=size)
    if array.initial is not None:
        filled = tuple(replace(a, initial=_initial(array, deal, k, shape)) for k, a in enumerate(arrays))
        deal = replace(deal, banks=filled)
    if not array.external:
        return deal, ()
    whole = _bank_of(function, array)
    if whole.dimensions[position].style != "whole":
        raise NotApplicable(f"dimension {position + 1} of {origin} is partitioned already")
    banks = tuple(
        replace(
            whole,
            port=bank.name,
            dimensions=(
                *whole.dimensions[:position],
                BankDimension(style=style, factor=count, number=k, size=size),
                *whole.dimensions[position + 1 :],
            ),
        )
        for k, bank in enumerate(arrays)
    )
    return deal, banks


def banks_of(function: ir.Function, array: str) -> tuple[ir.Array, ...]:
    """Return the arrays that hold an array's elements: itself, or its banks.

    Raises: NotApplicable: no array has that name.
    """
    parts = tuple(a for a in function.arrays if array in (a.name, a.argument))
    if not parts:
        known = sorted({a.argument or a.name for a in function.arrays})
        raise NotApplicable(f"no array is named {array}; there are {', '.join(known) or 'none'}")
    return parts


def _check_bank_count(array: str, counts: Iterable[int]) -> None:
    total = sum(counts)
    if total > MAXIMUM_BANKS:
        raise NotApplicable(f"{array} would have {total} banks; at most {MAXIMUM_BANKS} are made")


def _counting_from_zero(
    body: tuple[ir.Statement, ...], arrays: frozenset[str], factor: int, names: FreshNames
) -> tuple[ir.Statement, ...]:
    """Let loops around accesses that step by a multiple of the factor count iterations instead.

    Their variables then appear as multiples of the factor, so that a position in a bank needs no division.
    Powers of two need none anyway.
    """

    def visit(statement: ir.Statement) -> tuple[ir.Statement, ...]:
        if not isinstance(statement, ir.For) or statement.step % factor or statement.nest:
            return (statement,)
        trips = exact_trips(statement)
        if trips is None or leaves_outward(statement.body):
            return (statement,)
        if arrays.isdisjoint(loaded_arrays(statement.body) | ir.stored_arrays(statement.body)):
            return (statement,)
        variable, kind = statement.variable, statement.variable.type
        counter = names.variable(f"{variable.name}_count", kind)
        scaled = make_binary("mul", ir.Read(variable=counter), constant_like(statement, statement.step))
        value = make_binary("add", scaled, value_at(statement, 0))
        loop = replace(
            statement,
            variable=counter,
            lower=constant_like(statement, 0),
            comparison="lt",
            upper=constant_like(statement, trips),
            step=1,
            body=Copier(values={variable.name: value}).body(statement.body),
        )
        last = ir.Assign(variable=variable, value=value_at(statement, trips), line=statement.line)
        return (loop, last)

    return ir.map_statements(body, visit)


def _partition_dimension(
    function: ir.Function, array: str, style: str, factor: int | None, position: int
) -> ir.Function:
    names = fresh_names(function)
    deals: dict[str, _Deal] = {}
    banks: dict[str, tuple[Bank, ...]] = {}
    parts = banks_of(function, array)
    _check_bank_count(array, (_sizes(style, factor, a.shape[position])[1] for a in parts))
    for part in parts:
        dealt = _deal_array(function, part, position, style, factor, names)
        if dealt is not None:
            deals[part.name], banks[part.name] = dealt
    if not deals:
        return function
    body = function.body
    for count in sorted({len(d.banks) for d in deals.values() if d.style == "cyclic"}):
        if not is_power_of_two(count):
            body = _counting_from_zero(body, frozenset(deals), count, names)
    body = _Partitioner(deals, names, []).body(body, Facts())
    arrays = tuple(b for a in function.arrays for b in (deals[a.name].banks if a.name in deals else (a,)))
    kept = tuple(b for b in function.banks if b.port not in banks)
    added = tuple(b for name in banks for b in banks[name])
    return with_bank_sides(replace(function, body=body, arrays=arrays, banks=(*kept, *added)))


def with_bank_sides(function: ir.Function) -> ir.Function:
    """Return the function with `Bank.read` and `Bank.written` set from its body."""
    loaded, stored = loaded_arrays(function.body), ir.stored_arrays(function.body)
    banks = tuple(replace(b, read=b.port in loaded, written=b.port in stored) for b in function.banks)
    return replace(function, banks=banks)


def partition_array(
    function: ir.Function, array: str, style: str, factor: int | None = None, dimension: int = 1
) -> ir.Function:
    """Partition an array into banks.

    Args:
        array: name of an array of any kind; earlier partitions of other dimensions are kept.
        style: `cyclic`, `block` or `complete`.
        factor: number of banks; None for `complete`. At least as many banks as elements make it complete.
        dimension: 1 for the first, 0 for all.
    Returns: an equivalent function. A local array that is completely partitioned in all dimensions stays one
             array, kept in registers (`Array.registers`).
    Raises:  NotApplicable: no such array or dimension, a wrong style or factor, a dimension that is
             partitioned already, or more than `MAXIMUM_BANKS` banks.
    """
    parts = banks_of(function, array)
    rank = len(parts[0].shape)
    if not 0 <= dimension <= rank:
        raise NotApplicable(f"{array} has dimensions 1 to {rank} (0 for all), got {dimension}")
    positions = list(range(rank)) if dimension == 0 else [dimension - 1]
    styles = [_sizes(style, factor, parts[0].shape[p]) for p in positions]
    one_each = all(
        styles[positions.index(p)][2] == 1 if p in positions else parts[0].shape[p] == 1 for p in range(rank)
    )
    if one_each and not parts[0].external:
        return _in_registers(function, array, parts)
    for position in positions:
        function = _partition_dimension(function, array, style, factor, position)
    return function


def _in_registers(function: ir.Function, name: str, parts: tuple[ir.Array, ...]) -> ir.Function:
    """Mark local arrays to be kept in registers."""
    _check_bank_count(name, (a.element_count for a in parts))
    marked = {a.name: replace(a, registers=True) for a in parts}
    body = rename_arrays(function.body, marked)
    return replace(function, body=body, arrays=tuple(marked.get(a.name, a) for a in function.arrays))


def rename_arrays(body: tuple[ir.Statement, ...], arrays: dict[str, ir.Array]) -> tuple[ir.Statement, ...]:
    """Return the body with arrays replaced, by name, by others of the same shape."""

    def visit(load: ir.Load) -> ir.Expression | None:
        if load.array.name not in arrays:
            return None
        predicate = None if load.predicate is None else replace_loads(load.predicate, visit)
        indices = tuple(replace_loads(i, visit) for i in load.indices)
        return replace(load, array=arrays[load.array.name], indices=indices, predicate=predicate)

    def statement(part: ir.Statement) -> tuple[ir.Statement, ...]:
        if any(load.array.name in arrays for e in ir.statement_expressions(part) for load in loads_of(e)):
            part = ir.map_own_expressions(part, lambda e: replace_loads(e, visit))
        if isinstance(part, ir.Store) and part.array.name in arrays:
            part = replace(part, array=arrays[part.array.name])
        return (part,)

    return ir.map_statements(body, statement)
