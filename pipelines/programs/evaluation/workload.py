"""Evaluation workloads: operators as C templates, and calls of them on tensors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pipelines.programs.errors import ProgramError

Specification = Mapping[str, Any]

_HEAD = re.compile(r"static void \$name\((.*?)\) \{", re.DOTALL)
_PARAMETER = re.compile(r"((?:unsigned )?[$\w]+) (\w+)((?:\[[^\]]*\])*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """An argument of an operator: its C type, its name, and the text of each dimension."""

    c_type: str
    name: str
    dimensions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Operator:
    """An operator as a template of a C function.

    Attributes:
        name: of the operator.
        family: as in the dataflow stage.
        text: C, in which `$name` is the function's name, `$E` and `$A` are the types of elements and of sums,
            `$requantise`, `$saturate`, `$scale` and `$quarter` are fixed-point operations, and other capital
            letters are sizes. The argument `out` is the result; all others are only read.
    """

    name: str
    family: str
    text: str = field(repr=False)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Arguments in order.

        Raises: ProgramError: the template has no head.
        """
        head = _HEAD.search(self.text)
        if head is None:
            raise ProgramError(f"an operator must begin with `static void $name(`, got {self.text[:40]!r}")
        matches = [_PARAMETER.fullmatch(" ".join(part.split())) for part in head[1].split(",")]
        return tuple(
            Parameter(c_type=m[1], name=m[2], dimensions=tuple(re.findall(r"\[([^\]]*)\]", m[3])))
            for m in matches
            if m is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A type of elements.

    Attributes:
        name, c_name, sum_name: in the graph, of elements, of sums.
        fraction: bits behind the point, 0 for floating numbers.
        limit: largest magnitude of a result.
    """

    name: str
    c_name: str
    sum_name: str
    fraction: int = 0
    limit: int = 0

    @property
    def floating(self) -> bool:
        """Whether elements are floating numbers."""
        return self.fraction == 0


FLOAT = Element(name="float", c_name="float", sum_name="float")
INT8 = Element(name="int8", c_name="signed char", sum_name="int", fraction=5, limit=127)
INT16 = Element(name="int16", c_name="short", sum_name="int", fraction=8, limit=4095)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of an operator in the graph function.

    Attributes:
        operator: of OPERATORS.
        sizes: macro or number by capital letter of the template.
        arguments: tensor, scalar, or expression of scalars and macros, by the operator's argument.
    """

    operator: str
    sizes: Mapping[str, str]
    arguments: Mapping[str, str]


def call(operator: str, sizes: str, arguments: str) -> Call:
    """A call from two lines of `name=value` pairs; a pair without `=` has one name for both.

    For example `call("linear", "N=TOKENS K=HIDDEN M=HIDDEN", "x weight=wq bias=bq tokens out=q")`.
    """
    pairs = [[(p.split("=") * 2)[:2] for p in line.split()] for line in (sizes, arguments)]
    return Call(operator=operator, sizes=dict(pairs[0]), arguments=dict(pairs[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """An evaluation workload.

    Attributes:
        name: of the program; the graph function's, with - as _.
        source: origin of the block.
        element: of its tensors.
        sizes: value of each size macro.
        scalars: base value of each dynamic parameter; its sweep is -50 % .. +50 %.
        calls: in order.
        data: input specification by tensor; those of one kind share a pattern ending in `*`.
        repeated: index of the first call of those that repeat, up to the last, and the scalar with the
            number of repetitions; None when all run once.
    """

    name: str
    source: str
    element: Element
    sizes: Mapping[str, int]
    scalars: Mapping[str, int]
    calls: tuple[Call, ...]
    data: Mapping[str, Specification]
    repeated: tuple[int, str] | None = None

    @property
    def top(self) -> str:
        """Name of the graph function."""
        return self.name.replace("-", "_")


def sweep_ends(base: int) -> tuple[int, int]:
    """Smallest and largest value of a dynamic parameter: base less and plus a half, inside."""
    return base - base // 2, base + base // 2
