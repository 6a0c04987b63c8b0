"""Directives: from pragmas or JSON to canonical `Directive`s, and the outcome of each.

Spellings are those of Vitis HLS (`#pragma HLS …`), Merlin (`#pragma ACCEL …`), OpenMP and clang.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from pipelines.base.files import plain_json
from pipelines.base.identity import canonical_json
from pipelines.c.errors import HlsError
from pipelines.c.ir import Directive

LOOP_KINDS = ("pipeline", "unroll", "flatten", "tile", "parallel", "reduction", "cache")
PARTITION_STYLES = ("cyclic", "block", "complete")

OMP_THREADS = 4
"""Copies of the body for `omp parallel for` without `num_threads`, whose default OpenMP leaves open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveOutcome:
    """Outcome of one directive.

    Attributes:
        directive: the directive as canonical JSON.
        applied: whether it shaped the design.
        reason: what was done, or why it could not be.
    """

    directive: str
    applied: bool
    reason: str


_Name = Annotated[str, Field(min_length=1, max_length=100)]


class _DirectiveModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["pipeline", "unroll", "flatten", "tile", "parallel", "reduction", "cache", "partition"]
    loop: _Name | None = None
    value: Annotated[int, Field(ge=1, le=100_000)] | None = None
    variable: _Name | None = None
    style: Literal["cyclic", "block", "complete", "flatten"] | None = None
    dimension: Annotated[int, Field(ge=0, le=5)] | None = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> _DirectiveModel:
        if self.kind == "partition":
            return self._fits_partition()
        if self.loop is None:
            raise ValueError(f"{self.kind} needs a loop")
        if self.kind in ("cache", "reduction") and self.variable is None:
            raise ValueError(f"{self.kind} needs a variable")
        if self.kind == "tile" and self.value is None:
            raise ValueError("tile needs a value")
        if self.style is not None and (self.kind, self.style) != ("pipeline", "flatten"):
            raise ValueError(f"{self.kind} has no style {self.style}")
        return self

    def _fits_partition(self) -> _DirectiveModel:
        if self.variable is None or self.style not in PARTITION_STYLES:
            raise ValueError("partition needs a variable and a style of " + ", ".join(PARTITION_STYLES))
        if self.style != "complete" and self.value is None:
            raise ValueError(f"a {self.style} partition needs a value")
        return self

    def directive(self) -> Directive:
        return Directive(
            kind=self.kind,
            loop=self.loop or "",
            value=self.value,
            variable=self.variable or "",
            style=self.style or "",
            dimension=1 if self.kind == "partition" and self.dimension is None else self.dimension,
        )


_DIRECTIVES = TypeAdapter(list[_DirectiveModel])


def directive_json(directive: Directive) -> str:
    """Return one directive as canonical JSON without empty fields."""
    fields: dict[str, str | int] = {"kind": directive.kind}
    if directive.loop:
        fields["loop"] = directive.loop
    if directive.value is not None:
        fields["value"] = directive.value
    if directive.variable:
        fields["variable"] = directive.variable
    if directive.style:
        fields["style"] = directive.style
    if directive.dimension is not None:
        fields["dimension"] = directive.dimension
    return canonical_json(fields)


def directives_json(directives: Sequence[Directive]) -> str:
    """Return a set of directives as a JSON list in canonical order, without repeats."""
    return "[" + ",".join(sorted({directive_json(d) for d in directives})) + "]"


def parse_directives(text: str) -> tuple[Directive, ...]:
    """Parse directives from JSON: a list of objects with `kind` and the keys of that kind; see docs/hls.md.

    Raises: HlsError: not such a list; the message says where and what is accepted.
    """
    accepted = 'directives must be a JSON list like [{"kind": "pipeline", "loop": "L0", "value": 1}]'
    try:
        models = _DIRECTIVES.validate_python(plain_json(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = "/".join(str(part) for part in first["loc"])
        raise HlsError(accepted, f"{first['msg']} at {place or 'the top'}") from None
    except ValueError as error:
        raise HlsError(accepted, f"invalid JSON ({error})") from None
    return tuple(m.directive() for m in models)


# ---- pragmas ------------------------------------------------------------------------------------------

_WORD = re.compile(r"([A-Za-z_]\w*)\s*(?:=\s*([^\s=]+)|\(([^)]*)\))?")
_Options = Mapping[str, str | None]


class _Unknown(Exception):
    """The pragma is not a directive this engine knows."""


def _options(text: str) -> dict[str, str | None]:
    """Return `a b=1 c(2)` as {"a": None, "b": "1", "c": "2"}."""
    return {m[1].lower(): m[2] if m[2] is not None else m[3] for m in _WORD.finditer(text)}


def _number(options: _Options, name: str) -> int | None:
    text = options.get(name)
    if name not in options:
        return None
    if text is None or not re.fullmatch(r"[1-9]\d{0,4}", text):
        raise _Unknown
    return int(text)


def _only(options: _Options, *known: str) -> None:
    if any(name not in known for name in options):
        raise _Unknown


def _hls_pipeline(options: _Options, loop: str) -> Directive | None:
    _only(options, "ii", "rewind", "style")
    return Directive(kind="pipeline", loop=loop, value=_number(options, "ii"))


def _hls_unroll(options: _Options, loop: str) -> Directive:
    _only(options, "factor", "skip_exit_check")
    return Directive(kind="unroll", loop=loop, value=_number(options, "factor"))


def _hls_flatten(options: _Options, loop: str) -> Directive:
    _only(options)
    return Directive(kind="flatten", loop=loop)


def _hls_partition(options: _Options, loop: str) -> Directive:
    del loop
    _only(options, "variable", "type", "factor", "dim", *PARTITION_STYLES)
    named = [s for s in PARTITION_STYLES if s in options]
    style = (options.get("type") or (named[0] if named else "complete")).lower()
    factor, variable = _number(options, "factor"), options.get("variable")
    if style not in PARTITION_STYLES or variable is None or (style != "complete" and factor is None):
        raise _Unknown
    dimension = 0 if options.get("dim") == "0" else _number(options, "dim") or 1
    return Directive(
        kind="partition",
        variable=variable,
        style=style,
        value=None if style == "complete" else factor,
        dimension=dimension,
    )


def _accel_pipeline(options: _Options, loop: str) -> Directive | None:
    _only(options, "ii", "flatten", "auto")
    style = "flatten" if "flatten" in options else ""
    return Directive(kind="pipeline", loop=loop, value=_number(options, "ii"), style=style)


def _accel_parallel(options: _Options, loop: str) -> Directive:
    _only(options, "factor", "flatten", "reduction")
    factor = _number(options, "factor")
    if "reduction" in options:
        variable = options["reduction"]
        if not variable:
            raise _Unknown
        return Directive(kind="reduction", loop=loop, value=factor, variable=variable)
    return Directive(kind="parallel", loop=loop, value=factor)


def _accel_tile(options: _Options, loop: str) -> Directive:
    _only(options, "factor")
    factor = _number(options, "factor")
    if factor is None:
        raise _Unknown
    return Directive(kind="tile", loop=loop, value=factor)


def _accel_cache(options: _Options, loop: str) -> Directive:
    _only(options, "variable")
    variable = options.get("variable")
    if variable is None:
        raise _Unknown
    return Directive(kind="cache", loop=loop, variable=variable)


def _clang_loop(options: _Options, loop: str) -> Directive:
    if options.get("unroll") in ("full", "enable") and len(options) == 1:
        return Directive(kind="unroll", loop=loop)
    _only(options, "unroll_count")
    return Directive(kind="unroll", loop=loop, value=_number(options, "unroll_count"))


def _omp_for(options: _Options, loop: str) -> Directive:
    _only(options, "num_threads", "schedule", "reduction", "private", "shared", "default", "firstprivate")
    return Directive(kind="parallel", loop=loop, value=_number(options, "num_threads") or OMP_THREADS)


_PRAGMAS: tuple[tuple[re.Pattern[str], Callable[[_Options, str], Directive | None]], ...] = (
    (re.compile(r"^HLS\s+pipeline\b", re.IGNORECASE), _hls_pipeline),
    (re.compile(r"^HLS\s+unroll\b", re.IGNORECASE), _hls_unroll),
    (re.compile(r"^HLS\s+loop_flatten\b", re.IGNORECASE), _hls_flatten),
    (re.compile(r"^HLS\s+array_partition\b", re.IGNORECASE), _hls_partition),
    (re.compile(r"^ACCEL\s+pipeline\b", re.IGNORECASE), _accel_pipeline),
    (re.compile(r"^ACCEL\s+parallel\b", re.IGNORECASE), _accel_parallel),
    (re.compile(r"^ACCEL\s+tile\b", re.IGNORECASE), _accel_tile),
    (re.compile(r"^ACCEL\s+cache\b", re.IGNORECASE), _accel_cache),
    (re.compile(r"^clang\s+loop\b"), _clang_loop),
    (re.compile(r"^omp\s+parallel\s+for\b"), _omp_for),
)


def parse_pragma(text: str, loop: str) -> tuple[Directive, ...] | None:
    """Parse the directives that a pragma on a loop spells; None for an unknown pragma.

    Args:    loop: name of the pragma's loop; empty outside loops, where only array directives are known.
    """
    stripped = " ".join(text.split())
    for form, read in _PRAGMAS:
        match = form.match(stripped)
        if match is None:
            continue
        try:
            directive = read(_options(stripped[match.end() :]), loop)
        except _Unknown:
            return None
        if directive is None or (directive.kind in LOOP_KINDS and not loop):
            return None
        return (directive,)
    return None


def pragma_of(directive: Directive) -> str | None:
    """Return the pragma, without `#pragma`, that says the same above a loop, or anywhere for one on an array.

    Returns: None where there is none.
    """
    match directive:
        case Directive(kind="pipeline", value=None, style=""):
            return "ACCEL pipeline"
        case Directive(kind="pipeline", value=int() as value, style=""):
            return f"ACCEL pipeline II={value}"
        case Directive(kind="unroll", value=None):
            return "clang loop unroll(full)"
        case Directive(kind="unroll", value=int() as value):
            return f"clang loop unroll_count({value})"
        case Directive(kind="parallel", value=None):
            return "ACCEL parallel"
        case Directive(kind="parallel", value=int() as value):
            return f"omp parallel for num_threads({value})"
        case Directive(kind="partition", style=style, variable=variable, value=value, dimension=dimension):
            factor = "" if value is None else f" factor={value}"
            return f"HLS array_partition variable={variable} type={style}{factor} dim={dimension}"
        case _:
            return None
