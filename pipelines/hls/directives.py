"""Directives: from pragmas or JSON to canonical `Directive`s, and what became of each.

Belongs here: spelling, validation, canonical form. Does not: applying a directive to a loop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipelines.hls.errors import HlsError
from pipelines.hls.ir import Directive
from pipelines.identity import canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveOutcome:
    """What became of one directive.

    Attributes:
        directive: the directive as canonical JSON.
        applied: whether it shaped the design.
        reason: what was done, or why it could not be.
    """

    directive: str
    applied: bool
    reason: str


class _DirectiveModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["pipeline", "unroll"]
    loop: Annotated[str, Field(min_length=1, max_length=100)]
    value: Annotated[int, Field(ge=1, le=100_000)] | None = None


_DIRECTIVES = TypeAdapter(list[_DirectiveModel])

_PRAGMA_FORMS = (
    (re.compile(r"^HLS\s+pipeline(?:\s+II\s*=\s*(\d+))?$", re.IGNORECASE), "pipeline"),
    (re.compile(r"^ACCEL\s+pipeline(?:\s+II\s*=\s*(\d+))?$", re.IGNORECASE), "pipeline"),
    (re.compile(r"^HLS\s+unroll(?:\s+factor\s*=\s*(\d+))?$", re.IGNORECASE), "unroll"),
    (re.compile(r"^ACCEL\s+parallel(?:\s+factor\s*=\s*(\d+))?$", re.IGNORECASE), "unroll"),
    (re.compile(r"^clang\s+loop\s+unroll\s*\(\s*full\s*\)$"), "unroll"),
)


def directive_json(directive: Directive) -> str:
    """One directive as canonical JSON: `{"kind":…,"loop":…}` and `"value"` when it has one."""
    fields: dict[str, str | int] = {"kind": directive.kind, "loop": directive.loop}
    if directive.value is not None:
        fields["value"] = directive.value
    return canonical_json(fields)


def directives_json(directives: Sequence[Directive]) -> str:
    """A set of directives as a JSON list in canonical order, without repeats."""
    return "[" + ",".join(sorted({directive_json(d) for d in directives})) + "]"


def parse_directives(text: str) -> tuple[Directive, ...]:
    """Directives from JSON: a list of `{"kind": …, "loop": …, "value": …}`.

    Raises: HlsError: not such a list; the message says where and what is accepted.
    """
    accepted = 'directives must be a JSON list like [{"kind": "pipeline", "loop": "L0", "value": 1}]'
    try:
        models = _DIRECTIVES.validate_python(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = "/".join(str(part) for part in first["loc"])
        raise HlsError(accepted, f"{first['msg']} at {place or 'the top'}") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise HlsError(accepted, f"invalid JSON ({error})") from None
    return tuple(Directive(kind=m.kind, loop=m.loop, value=m.value) for m in models)


def parse_pragma(text: str, loop: str) -> Directive | None:
    """The directive a pragma on a loop spells, or None when this engine does not know the pragma."""
    for form, kind in _PRAGMA_FORMS:
        found = form.match(text.strip())
        if found:
            value = int(found[1]) if form.groups and found[1] else None
            return Directive(kind=kind, loop=loop, value=value)
    return None
