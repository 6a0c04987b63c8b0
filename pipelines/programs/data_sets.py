"""Data sets of a program: the drawn one, its sweep, and others of its range that exercise the control flow.

A data set is a kind, a seed and an input specification. Each argument stays within the range of the program's
specification, so that a valid program stays valid: only uniform arrays that the program reads get other
values, and permutations, row pointers, sorted arrays and matrices keep their kind and get another seed. Kinds
other than `drawn` and `sweep` have their position in `DATA_KINDS` as seed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.base.identity import canonical_json
from pipelines.c import read_function
from pipelines.c.signature import Argument, DataSet, Interface, finite_values
from pipelines.programs.data import argument_generator, data_id, draw_data
from pipelines.programs.dataflow.program import SWEEP, swept_inputs
from pipelines.programs.errors import ProgramError
from pipelines.programs.influence import thresholds
from pipelines.programs.specification import Constant, Uniform, kind_of, read_specification
from pipelines.schemas import DATA_KINDS, DRAWN, InputRow, ProgramRow

ZERO_SHARE = 0.9
SKEW = 4
VALUES_LIMIT = 64
"""Most elements of an argument whose values stand in table `inputs`."""

Values = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramData:
    """A data set of a program.

    Attributes:
        kind: one of `DATA_KINDS`; None for values from elsewhere.
        inputs: JSON input specification of its arguments. Besides the kinds of docs/programs.md it names
            `sparse`, `skewed`, `descending` and `around`, which only this module draws.
        identity: hash of the values, see `data_id`.
    """

    kind: str | None
    seed: int
    inputs: str
    values: DataSet
    identity: str


def data_sets(
    program: ProgramRow, interface: Interface, kinds: Sequence[str] = (DRAWN,), *, seeds: Sequence[int] = (0,)
) -> list[ProgramData]:
    """Return the data sets of a program, each with other values.

    Args:    kinds: of `DATA_KINDS`. seeds: of the kind `drawn`; the first one is that of `sweep`.
    Returns: in order of the kinds; of data sets with equal values the first.
    Raises:  ProgramError: an unknown kind, or a specification that does not fit the interface.
             HlsError: the front end rejects the program.
    """
    distinct: dict[str, ProgramData] = {}
    for kind in kinds:
        for one in _of_kind(program, interface, kind, seeds):
            distinct.setdefault(one.identity, one)
    return list(distinct.values())


def find_data_set(
    program: ProgramRow, interface: Interface, *, kind: str | None, seed: int, identity: str
) -> ProgramData:
    """Find the data set of a row of `runs`; rows without a kind are of `drawn` or `sweep`.

    Raises: ProgramError: no data set of the program has that identity.
    """
    for one in data_sets(program, interface, (DRAWN, "sweep") if kind is None else (kind,), seeds=(seed,)):
        if one.identity == identity:
            return one
    raise ProgramError(
        f"a run must be on data of its program, got data {identity} for {program.name} and seed {seed}"
    )


def given_data(program: ProgramRow, values: DataSet) -> ProgramData:
    """Return a data set of values from elsewhere."""
    return ProgramData(kind=None, seed=0, inputs=program.inputs, values=values, identity=data_id(values))


def _of_kind(
    program: ProgramRow, interface: Interface, kind: str, seeds: Sequence[int]
) -> Iterator[ProgramData]:
    if kind not in DATA_KINDS:
        raise ProgramError(f"unknown kind of data: {kind}; accepted: {', '.join(DATA_KINDS)}")
    if kind == DRAWN:
        for seed in seeds:
            yield _drawn(kind, seed, interface, program.inputs)
    elif kind == "sweep":
        for inputs in _swept(program, interface, seeds[0]):
            yield _drawn(kind, seeds[0], interface, inputs)
    else:
        base = _drawn(kind, DATA_KINDS.index(kind), interface, program.inputs)
        yield base if kind == "uniform" else _changed(program, interface, base, _CHANGES[kind](program))


def _drawn(kind: str, seed: int, interface: Interface, inputs: str) -> ProgramData:
    values = draw_data(interface, inputs, seed=seed)
    return ProgramData(kind=kind, seed=seed, inputs=inputs, values=values, identity=data_id(values))


# ---- scalars -------------------------------------------------------------------------------------------


def _swept(program: ProgramRow, interface: Interface, seed: int) -> tuple[str, ...]:
    """Return the input specifications with the scalars at fractions around their base.

    With a graph its bounds hold. Without one a uniform scalar stays in its range, and a constant, whose range
    is not known, is only made smaller.
    """
    if program.graph is not None:
        return swept_inputs(program)
    specification, base = read_specification(program.inputs), draw_data(interface, program.inputs, seed=seed)
    kinds = {a: kind_of(a, specification) for a in interface.scalars}
    specifications: dict[str, None] = {}
    for fraction in SWEEP:
        moved = {
            a.name: _moved(a, kind, base[a.name].item(), fraction)
            for a, kind in kinds.items()
            if isinstance(kind, Constant | Uniform)
        }
        changed = {name: {"kind": "constant", "value": value} for name, value in moved.items()}
        specifications[canonical_json(json.loads(program.inputs) | changed)] = None
    return tuple(specifications)


def _moved(argument: Argument, kind: Constant | Uniform, base: int | float, fraction: float) -> int | float:
    value = base * (1 + (min(fraction, 0.0) if isinstance(kind, Constant) else fraction))
    value = value if argument.type.floating else round(value)
    if isinstance(kind, Constant):
        return value
    low, high = _range(argument, kind)
    return min(max(value, low), high)


def _range(argument: Argument, kind: Uniform) -> tuple[int | float, int | float]:
    return (kind.low, kind.high) if argument.type.floating else (int(kind.low), int(kind.high) - 1)


# ---- arrays --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draw:
    """One uniform array: its argument, range, uniform values, and a generator that drew nothing yet."""

    argument: Argument
    low: int | float
    high: int | float
    uniform: Values
    generator: np.random.Generator

    @property
    def bounds(self) -> dict[str, Any]:
        """The range as the input specification writes it."""
        return {"low": self.low, "high": self.high if self.argument.type.floating else int(self.high) + 1}


_Change = Callable[[_Draw, Mapping[str, Values]], tuple[Values, dict[str, Any]]]
"""From a uniform array, and the values of all arguments, to other values and their specification."""


def _changed(program: ProgramRow, interface: Interface, base: ProgramData, change: _Change) -> ProgramData:
    specification = read_specification(program.inputs)
    values, inputs = dict(base.values), dict[str, Any](json.loads(program.inputs))
    for argument in interface.arrays:
        kind = kind_of(argument, specification)
        if not isinstance(kind, Uniform) or not argument.read:
            continue
        low, high = _range(argument, kind)
        uniform = base.values[argument.name]
        generator = argument_generator(base.seed, argument, str(base.kind))
        draw = _Draw(argument=argument, low=low, high=high, uniform=uniform, generator=generator)
        values[argument.name], inputs[argument.name] = change(draw, base.values)
    return replace(base, values=values, inputs=canonical_json(inputs), identity=data_id(values))


def _sparse(draw: _Draw, _: Mapping[str, Values]) -> tuple[Values, dict[str, Any]]:
    """Return the nine of ten elements are zero, or the value of the range next to it."""
    zero = min(max(0, draw.low), draw.high)
    empty = draw.generator.random(draw.uniform.shape) < ZERO_SHARE
    values = np.where(empty, np.array(zero, draw.uniform.dtype), draw.uniform)
    return values, {"kind": "sparse", "zero_share": ZERO_SHARE, **draw.bounds}


def _sorted(draw: _Draw, _: Mapping[str, Values]) -> tuple[Values, dict[str, Any]]:
    values = np.sort(draw.uniform, axis=None).reshape(draw.uniform.shape)
    return values, {"kind": "sorted", **draw.bounds}


def _skewed(draw: _Draw, _: Mapping[str, Values]) -> tuple[Values, dict[str, Any]]:
    """Return a few of the values are most frequent: element floor(n u^4) of n uniform ones, 0 <= u < 1."""
    flat = draw.uniform.reshape(-1)
    places = (flat.size * draw.generator.random(flat.size) ** SKEW).astype(np.int64)
    return flat[places].reshape(draw.uniform.shape), {"kind": "skewed", "power": SKEW, **draw.bounds}


def _constant(draw: _Draw, _: Mapping[str, Values]) -> tuple[Values, dict[str, Any]]:
    value = draw.uniform.reshape(-1)[:1]
    return np.full_like(draw.uniform, value[0]), {"kind": "constant", "value": value.tolist()[0]}


def _adversarial(program: ProgramRow) -> _Change:
    """Return the values below, above and at what the source compares with, in turn; else values in descending
    order.

    In turn, so that a branch goes another way each time; descending, which is the worst case of most sorts
    and keeps a running minimum changing.
    """
    function = read_function(program.source, top=program.top, file=f"{program.name}.c")

    def change(draw: _Draw, values: Mapping[str, Values]) -> tuple[Values, dict[str, Any]]:
        scalars = {name: v.item() for name, v in values.items() if v.ndim == 0}
        sides = _sides(draw, thresholds(function, scalars).get(draw.argument.name, []))
        if len(sides) < 2:
            descending = np.sort(draw.uniform, axis=None)[::-1].reshape(draw.uniform.shape)
            return np.ascontiguousarray(descending), {"kind": "descending", **draw.bounds}
        around = np.resize(np.array(sides, draw.uniform.dtype), draw.uniform.shape)
        return around, {"kind": "around", "values": sides}

    return change


def _sides(draw: _Draw, numbers: Sequence[int | float]) -> list[int | float]:
    """Return the values below, above and equal to each number, those within the range, without repetition."""
    kind = draw.argument.type
    sides: list[int | float] = []
    for number in numbers:
        if not math.isfinite(number):
            continue
        if kind.floating:
            at = kind.dtype.type(number)
            sides += [np.nextafter(at, kind.dtype.type(s * math.inf)).item() for s in (-1, 1)] + [at.item()]
        else:
            sides += [math.ceil(number) - 1, math.floor(number) + 1, math.floor(number)]
    return list(dict.fromkeys(side for side in sides if draw.low <= side <= draw.high))


_CHANGES: Mapping[str, Callable[[ProgramRow], _Change]] = {
    "sparse": lambda _: _sparse,
    "sorted": lambda _: _sorted,
    "skewed": lambda _: _skewed,
    "constant": lambda _: _constant,
    "adversarial": _adversarial,
}


# ---- rows ----------------------------------------------------------------------------------------------


def input_rows(data: ProgramData, suite: str) -> list[InputRow]:
    """Return the rows of table `inputs` of a data set, one per argument."""
    return [
        _input_row(data.identity, suite, name, np.asarray(values)) for name, values in data.values.items()
    ]


def _input_row(identity: str, suite: str, argument: str, values: Values) -> InputRow:
    flat = values.reshape(-1)
    finite = finite_values(flat)
    listed = [value if math.isfinite(value) else None for value in flat[:VALUES_LIMIT].tolist()]
    return InputRow(
        suite=suite,
        data_id=identity,
        argument=argument,
        type=str(values.dtype),
        shape=canonical_json(list(values.shape)),
        element_count=flat.size,
        minimum=float(finite.min()),
        maximum=float(finite.max()),
        mean=float(finite.mean(dtype=np.float64)),
        zero_share=1.0 - int(np.count_nonzero(flat)) / flat.size,
        distinct_count=int(np.unique(flat).size),
        is_sorted=bool((flat[1:] >= flat[:-1]).all()),
        values=canonical_json(listed) if flat.size <= VALUES_LIMIT else None,
    )
