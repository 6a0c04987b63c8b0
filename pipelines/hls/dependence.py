"""Memory dependences inside a block and between iterations of a loop block.

Belongs here: affine forms of subscripts and the distance tests on them. Does not: scheduling.

A subscript is affine when it is a sum of constants and constant multiples of values that do not change
in the block, or that change by a constant each iteration (induction variables). Subscripts are in bounds
(anything else is undefined in C), so dimensions are compared one by one. What is not affine is assumed to
alias in the next iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.hls.cdfg import Block, Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """`target` of iteration n + distance must not overtake `source` of iteration n."""

    source: int
    target: int
    distance: int


@dataclass(frozen=True, slots=True)
class _Affine:
    """A constant plus coefficients on operation indices (`terms` has no zero coefficient)."""

    terms: Mapping[int, int]
    constant: int

    def plus(self, other: _Affine, factor: int) -> _Affine:
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            terms[key] = terms.get(key, 0) + factor * coefficient
        return _Affine({k: v for k, v in terms.items() if v}, self.constant + factor * other.constant)

    def times(self, factor: int) -> _Affine:
        if factor == 0:
            return _Affine({}, 0)
        return _Affine({k: v * factor for k, v in self.terms.items()}, self.constant * factor)


@dataclass(frozen=True, slots=True)
class _BlockForms:
    """Affine forms of a block's values and the change of each leaf per iteration (None: unknown)."""

    forms: list[_Affine]
    strides: Mapping[int, int | None]

    def stride(self, form: _Affine) -> int | None:
        """Change of a form from one iteration to the next, None when unknown."""
        total = 0
        for leaf, coefficient in form.terms.items():
            stride = self.strides.get(leaf)
            if stride is None:
                return None
            total += coefficient * stride
        return total


def _form(operation: Operation, forms: list[_Affine]) -> _Affine:
    match operation.opcode:
        case "const":
            return _Affine({}, operation.value or 0)
        case "add":
            return forms[operation.operands[0]].plus(forms[operation.operands[1]], 1)
        case "sub":
            return forms[operation.operands[0]].plus(forms[operation.operands[1]], -1)
        case "neg":
            return forms[operation.operands[0]].times(-1)
        case "mul":
            left, right = (forms[i] for i in operation.operands)
            if not right.terms:
                return left.times(right.constant)
            if not left.terms:
                return right.times(left.constant)
        case "shl":
            left, right = (forms[i] for i in operation.operands)
            if not right.terms and 0 <= right.constant < 31:
                return left.times(1 << right.constant)
        case _:
            pass
    return _Affine({operation.index: 1}, 0)


def _block_forms(block: Block) -> _BlockForms:
    forms: list[_Affine] = []
    for operation in block.operations:
        forms.append(_form(operation, forms))
    written = {o.name: forms[o.operands[0]] for o in block.operations if o.opcode == "write"}
    strides: dict[int, int | None] = {}
    for operation in block.operations:
        if operation.opcode != "read":
            continue
        update = written.get(operation.name)
        if update is None:
            strides[operation.index] = 0
        else:
            change = update.plus(_Affine({operation.index: 1}, 0), -1)
            strides[operation.index] = None if change.terms else change.constant
    return _BlockForms(forms, strides)


_ANY = -1
_NEVER = -2


def _iteration_distance(first: _Affine, second: _Affine, forms: _BlockForms) -> int | None:
    """Iterations after which `second` equals `first`: a number, _ANY, _NEVER, or None for unknown."""
    difference = second.plus(first, -1)
    stride = forms.stride(second)
    if difference.terms or stride is None:
        return None
    if stride == 0:
        return _ANY if difference.constant == 0 else _NEVER
    if difference.constant % stride:
        return _NEVER
    distance = -difference.constant // stride
    return distance if distance >= 1 else _NEVER


def _may_alias(first: Operation, second: Operation, forms: _BlockForms) -> bool:
    """Whether two accesses of one iteration may touch the same element."""
    for left, right in zip(first.subscripts, second.subscripts, strict=True):
        difference = forms.forms[right].plus(forms.forms[left], -1)
        if not difference.terms and difference.constant:
            return False
    return True


def _carried_distance(
    first: Operation, second: Operation, forms: _BlockForms, trip_count: int | None
) -> int | None:
    """Smallest distance >= 1 at which `second` may touch what `first` touched; None for never."""
    exact: set[int] = set()
    for left, right in zip(first.subscripts, second.subscripts, strict=True):
        distance = _iteration_distance(forms.forms[left], forms.forms[right], forms)
        if distance == _NEVER:
            return None
        if distance is not None and distance != _ANY:
            exact.add(distance)
    if len(exact) > 1:
        return None
    found = exact.pop() if exact else 1
    return None if trip_count is not None and found >= trip_count else found


def memory_dependences(block: Block) -> tuple[Dependence, ...]:
    """Every ordering that memory imposes on a block's loads and stores.

    Returns: pairs within an iteration (distance 0, in program order), and for a block that branches to
             itself, pairs between iterations with the smallest distance at which they may meet.
    """
    forms = _block_forms(block)
    accesses = [o for o in block.operations if o.opcode in ("load", "store")]
    found: list[Dependence] = []
    repeats = block.index in block.successors
    for first in accesses:
        for second in accesses:
            if first.name != second.name or "store" not in (first.opcode, second.opcode):
                continue
            if first.index < second.index and _may_alias(first, second, forms):
                found.append(Dependence(source=first.index, target=second.index, distance=0))
            if repeats:
                distance = _carried_distance(first, second, forms, block.trip_count)
                if distance is not None:
                    found.append(Dependence(source=first.index, target=second.index, distance=distance))
    return tuple(found)
