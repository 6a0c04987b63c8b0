"""Options of the random programs of the AST stage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelines.base.summation import ordered_sum
from pipelines.c.signature import (
    DOUBLE,
    FLOAT,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from pipelines.programs.dialects import require_weights
from pipelines.programs.errors import ProgramError
from pipelines.programs.mix import require_mix

DATA_TYPES = {t.c_name: t for t in (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT, DOUBLE)}
"""Every type that data may have, by its name in C."""

OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "^", "~", "<<", ">>", "?:", "min", "max", "abs", "sqrt")
"""Every operator that may be selected; conditions always have comparisons and logic."""

CONTROLS = ("if", "continue", "break", "while", "switch", "triangular")
"""Kinds of control flow besides counted loops, in the order of `AstOptions.control_weights`."""

FORMS = (
    "computed_stores",
    "dead_stores",
    "early_returns",
    "fall_through",
    "local_values",
    "mixed_types",
    "negative_divisors",
    "negation",
    "non_finite",
    "truth_values",
    "wrapping",
)
"""Forms of C that `generate_program` adds on request, for tests of engines; no configuration has them.

computed_stores: elements are updated at subscripts that are computed from data.
dead_stores: an element is set twice, one statement after the other.
early_returns: `return` inside loops and helpers.
fall_through: cases without `break`.
local_values: local arrays with initial values.
mixed_types: up to five types of data, both floating ones too, and conversions between all of them.
negative_divisors: `/` and `%` by a negative constant.
negation: `!` in conditions.
non_finite: conversions of floating values to integers are defined for infinities and NaN, too: data may have
    them, while ranges and results without them are not promised.
truth_values: comparisons, `&&` and `||` as numbers.
wrapping: signed sums and products that may exceed their type are computed in the unsigned one.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AstOptions:
    """Options of the AST stage.

    Attributes:
        data_types: C names of the types drawn, of DATA_TYPES.
        operators: of OPERATORS; "+" must be among them.
        loop_depth_weights: weight of loop depth 0, 1, 2, ...; at most depth 6.
        max_expression_depth: nesting depth of operators, 1 to 6; a conversion or a guard may add to it.
        statements: minimum and maximum statements of a program before its definitions are completed.
        control_share: probability that a statement or loop has additional control flow, 0 to 1.
        control_weights: of each of CONTROLS.
        helper_probability: that an expression calls a function of the program, 0 to 1.
        max_helpers: maximum functions besides the top one, 0 to 4.
        array_dimensions: maximum dimensions of an array, 1 to 3.
        array_extent: minimum and maximum elements per dimension; deep nests get small ones.
        max_iterations: maximum iterations of the innermost loop of a nest.
        max_cycles: maximum cycles of a program, by a worst-case estimate with memory delays of 10.
        max_cells: maximum cells of the netlist without directives, by an estimate; twice as many with double.
        source_bytes: minimum and maximum bytes of source.
        max_local_bits: maximum bits of local arrays, which are flip-flops in hardware.
        min_cycles: minimum of the estimate that max_cycles bounds.
        keep_discarded: whether discarded attempts are rejected rows too.
        dialect_weights: of each of `pipelines.programs.dialects.DIALECTS`; empty for the stage's own texts.
        dialect_first: number of the first program that a dialect is drawn for.
        mix: parts of the programs with options of their own; the remaining programs have these options.
    """

    data_types: tuple[str, ...] = tuple(DATA_TYPES)
    operators: tuple[str, ...] = OPERATORS
    loop_depth_weights: tuple[float, ...] = (0.03, 0.1, 0.2, 0.37, 0.22, 0.08)
    max_expression_depth: int = 4
    statements: tuple[int, int] = (3, 14)
    control_share: float = 0.3
    control_weights: tuple[float, ...] = (4.0, 2.0, 1.0, 4.0, 3.0, 1.0)
    helper_probability: float = 0.04
    max_helpers: int = 2
    array_dimensions: int = 3
    array_extent: tuple[int, int] = (3, 48)
    max_iterations: int = 2000
    max_cycles: int = 50_000
    max_cells: int = 14_000
    source_bytes: tuple[int, int] = (300, 6000)
    max_local_bits: int = 1 << 20
    min_cycles: int = 0
    keep_discarded: bool = False
    dialect_weights: tuple[float, ...] = ()
    dialect_first: int = 0
    mix: tuple[AstPart, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values outside their ranges.

        Raises: ProgramError: the message names the option, its value and the accepted values.
        """
        _require_known("data_types", self.data_types, DATA_TYPES)
        _require_known("operators", self.operators, OPERATORS)
        _require("+" in self.operators, "operators must have +", self.operators)
        _require_weights("loop_depth_weights", self.loop_depth_weights, (1, 7))
        _require_weights("control_weights", self.control_weights, (len(CONTROLS), len(CONTROLS)))
        _require_integer("max_expression_depth", self.max_expression_depth, (1, 6))
        _require_integer("max_helpers", self.max_helpers, (0, 4))
        _require_integer("array_dimensions", self.array_dimensions, (1, 3))
        _require_integer("max_iterations", self.max_iterations, (64, 1_000_000))
        _require_integer("max_cycles", self.max_cycles, (1000, 100_000_000))
        _require_integer("max_cells", self.max_cells, (1000, 100_000_000))
        _require_pair("statements", self.statements, (1, 200))
        _require_pair("array_extent", self.array_extent, (2, 4096))
        _require_pair("source_bytes", self.source_bytes, (0, 1 << 20))
        for name in ("control_share", "helper_probability"):
            _require(0 <= getattr(self, name) <= 1, f"{name} must be 0 .. 1", getattr(self, name))
        _require_integer("max_local_bits", self.max_local_bits, (0, 1 << 24))
        _require_integer("min_cycles", self.min_cycles, (0, self.max_cycles))
        require_weights(self.dialect_weights)
        _require_integer("dialect_first", self.dialect_first, (0, 1 << 31))
        require_mix(self.mix)


def require_forms(forms: Iterable[str]) -> None:
    """Refuse forms that are not of FORMS.

    Raises: ProgramError: the message names the form and the accepted ones.
    """
    for form in forms:
        _require(form in FORMS, f"forms must be of {', '.join(FORMS)}", form)


@dataclass(frozen=True, slots=True, kw_only=True)
class AstPart:
    """A share of the programs and its options; options that are not given have their defaults."""

    share: float
    options: AstOptions


def _require(holds: bool, rule: str, got: object) -> None:
    if not holds:
        raise ProgramError(f"{rule}, got {got}")


def _require_known(name: str, chosen: Sequence[str], accepted: Iterable[str]) -> None:
    valid = tuple(accepted)
    _require(len(chosen) > 0, f"{name} must not be empty", "()")
    for item in chosen:
        _require(item in valid, f"{name} must be of {', '.join(valid)}", item)


def _require_weights(name: str, weights: Sequence[float], counts: tuple[int, int]) -> None:
    rule = f"{name} must be {counts[0]} to {counts[1]} weights >= 0, one above 0"
    good = all(math.isfinite(w) and w >= 0 for w in weights) and ordered_sum(weights) > 0
    _require(good and counts[0] <= len(weights) <= counts[1], rule, tuple(weights))


def _require_integer(name: str, value: int, limits: tuple[int, int]) -> None:
    _require(limits[0] <= value <= limits[1], f"{name} must be {limits[0]} .. {limits[1]}", value)


def _require_pair(name: str, pair: tuple[int, int], limits: tuple[int, int]) -> None:
    rule = f"{name} must be a least and a most between {limits[0]} and {limits[1]}"
    _require(limits[0] <= pair[0] <= pair[1] <= limits[1], rule, tuple(pair))
