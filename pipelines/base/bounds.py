"""Options that commands and engines share: their meanings and accepted values; importing it is cheap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, Field, field
from typing import Any

MEMORY_DELAY_CYCLES = (1, 1000)
CLOCK_PERIOD_NS = (0.1, 1000.0)


def asked(
    meaning: str,
    default: Any = MISSING,
    *,
    flags: Sequence[str] = (),
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    choices: Sequence[str] = (),
    metavar: str | None = None,
    unset: object = None,
    role: str | None = None,
) -> Any:
    """Declare a field of a question, from which the command's option and the function's help derive.

    Args: meaning: help of the option, with the unit. flags: spellings other than the field's name. least,
          most, above: bounds of a number. unset: what None stands for. role: `output`, `output folder` or
          `name or file` of a path or text; `function` of what no command has.
    """
    bounds = {"least": least, "most": most, "above": above}
    shown = {"choices": choices, "metavar": metavar, "unset": unset, "role": role}
    return field(default=default, metadata={"meaning": meaning, "flags": flags, **bounds, **shown})


def require_bounds(declared: Field[Any], value: float) -> None:
    """Refuse a value outside the bounds that its field declares.

    Raises: ValueError: the option, the value and what is accepted.
    """
    least, most, above = (declared.metadata[name] for name in ("least", "most", "above"))
    rules = {
        f"at least {least}": least is None or value >= least,
        f"above {above}": above is None or value > above,
        f"at most {most}": most is None or value <= most,
    }
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(f"{declared.name} out of range: {value!r}; accepted: {rule}")
