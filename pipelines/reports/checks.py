"""Figures of sampled designs against other tools, by check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from pipelines.reports.measures import Quantiles, present, quantiles_of
from pipelines.reports.tables import TableSet
from pipelines.schemas import OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One figure against one tool.

    Attributes:
        compared: rows whose comparison was made; passed: those within what is allowed.
        unmade: rows whose comparison could not be made.
        allowed: largest deviation of either sign that passes, the widest of the rows.
        deviations: value over reference less one, of the rows that were compared; None without any.
        worst: the greatest of them, either sign.
        reasons: the commonest reasons of rows that were not made or did not pass, with their number.
    """

    check: str
    tools: tuple[str, ...]
    compared: int
    passed: int
    unmade: int
    allowed: float
    deviations: Quantiles | None
    worst: float | None
    reasons: tuple[tuple[str, int], ...]


REASONS_SHOWN = 3


def read_checks(tables: TableSet) -> list[Check]:
    """Every check of the table by name."""
    names = tables.texts("cross_checks", "check")
    return [
        _check(tables, name, [i for i, n in enumerate(names) if n == name]) for name in sorted(set(names))
    ]


def _check(tables: TableSet, name: str, rows: list[int]) -> Check:
    statuses = tables.texts("cross_checks", "status")
    passes = tables.values("cross_checks", "passed")
    tools, versions = tables.texts("cross_checks", "tool"), tables.texts("cross_checks", "tool_version")
    reasons = tables.texts("cross_checks", "reason")
    made = [i for i in rows if statuses[i] == OK]
    passed = [i for i in made if passes[i] is True]
    deviations = present(tables.numbers("cross_checks", "deviation")[made])
    faults = Counter(" ".join(reasons[i].split()) for i in rows if passes[i] is not True)
    return Check(
        check=name,
        tools=tuple(sorted({f"{tools[i]} {versions[i]}".strip() for i in rows})),
        compared=len(made),
        passed=len(passed),
        unmade=len(rows) - len(made),
        allowed=float(np.max(tables.numbers("cross_checks", "allowed")[rows])),
        deviations=quantiles_of(deviations) if deviations.size else None,
        worst=float(deviations[np.abs(deviations).argmax()]) if deviations.size else None,
        reasons=tuple(sorted(faults.items(), key=lambda f: (-f[1], f[0]))[:REASONS_SHOWN]),
    )
