"""Searches for directives: designs by outcome, and the best design of each program beside its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.dataset.reports.tables import TableSet
from pipelines.schemas import OK

EVALUATED = "evaluated"
NOT_MEASURED = ("repeated", "pruned", "no_design")
"""Decisions of steps in which no design was measured."""

SEARCH = ("target", "method")


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveSearches:
    """Searches for one target by one method, by the outcome of their steps.

    Attributes:
        valid: designs measured and ok; failed: measured and not ok.
        repeated, pruned, no_design: steps without a measurement, by decision.
        solver_s: median time of the solver per step; None where it is not known.
    """

    target: str
    method: str
    programs: int
    valid: int
    failed: int
    repeated: int
    pruned: int
    no_design: int
    solver_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BestDesign:
    """The best design of one search.

    Attributes:
        best_cycles: least measured latency; None when no design was valid.
        bound_cycles: lower bound of that design; None when there is none.
    """

    program: str
    target: str
    method: str
    measured: int
    best_cycles: float | None
    bound_cycles: float | None

    @property
    def gap(self) -> float | None:
        """Best latency over its bound, less one."""
        if self.best_cycles is None or not self.bound_cycles:
            return None
        return self.best_cycles / self.bound_cycles - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """The figures of the searches for directives."""

    searches: tuple[DirectiveSearches, ...]
    best: tuple[BestDesign, ...]


def read_directives(tables: TableSet) -> Directives | None:
    """Compute the figures of searches for directives; None when there is none."""
    texts = ("exploration_id", "kernel", "size", "target", "method", "decision", "status")
    numbers = ("step", "latency_cycles", "bound_cycles", "solver_wall_s")
    rows = tables.scan("pragma_designs", texts=texts, numbers=numbers).collect()
    if not rows.height:
        return None
    return Directives(searches=tuple(_searches(rows)), best=tuple(_best(rows)))


def _searches(rows: pl.DataFrame) -> Sequence[DirectiveSearches]:
    measured = pl.col("decision") == EVALUATED
    counts = rows.group_by(SEARCH).agg(
        programs=pl.col("exploration_id").n_unique(),
        valid=(measured & (pl.col("status") == OK)).sum(),
        failed=(measured & (pl.col("status") != OK)).sum(),
        **{name: (pl.col("decision") == name).sum() for name in NOT_MEASURED},
        solver_s=pl.col("solver_wall_s").median(),
    )
    return [DirectiveSearches(**row) for row in counts.sort(SEARCH).to_dicts()]


def _best(rows: pl.DataFrame) -> Sequence[BestDesign]:
    measured = rows.filter(pl.col("decision") == EVALUATED)
    valid = measured.filter((pl.col("status") == OK) & pl.col("latency_cycles").is_not_null())
    key = ("exploration_id", *SEARCH, "kernel", "size")
    counts = measured.group_by(key).agg(measured=pl.len())
    least = (
        valid.sort("latency_cycles", "step")
        .group_by("exploration_id")
        .agg(best_cycles=pl.col("latency_cycles").first(), bound_cycles=pl.col("bound_cycles").first())
    )
    found = counts.join(least, on="exploration_id", how="left").sort(
        "kernel", "size", *SEARCH, "exploration_id"
    )
    return [
        BestDesign(
            program=" ".join(part for part in (row["kernel"], row["size"]) if part),
            target=row["target"],
            method=row["method"],
            measured=row["measured"],
            best_cycles=row["best_cycles"],
            bound_cycles=row["bound_cycles"],
        )
        for row in found.iter_rows(named=True)
    ]
