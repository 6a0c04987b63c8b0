"""Two releases side by side: rows, targets by stage, failures, errors of predictors; and their page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import polars as pl

from pipelines.dataset.releases import TARGETS, ReleaseTables, read_baselines, target_values
from pipelines.dataset.reports.drawing.markup import (
    TEXT,
    Column,
    Element,
    count,
    element,
    figure,
    note,
    percent,
    render,
    section,
    slug,
    tabulate,
)
from pipelines.dataset.reports.drawing.sections import distribution_panel
from pipelines.dataset.reports.samples import LABELS, STAGE_ORDER, Quantity
from pipelines.dataset.reports.statistics import Distribution, distribution
from pipelines.schemas import OK, table_spec

REASON_LENGTH = 110
REASONS_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictorError:
    """Mean absolute percentage error of a predictor that was trained on one release, a fraction."""

    predictor: str
    target: str
    part: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One figure of both releases; None where one has none.

    Attributes:
        what: texts that name it, such as a table, or a target, a stage and a quantile.
    """

    what: tuple[str, ...]
    one: float | None
    other: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDifference:
    """All figures of two releases.

    Attributes:
        names: of both. rows: by table. failures: by table, status and reason.
        quantiles: by target, stage and quantile. errors: by predictor, target and part.
        distributions: of each target, a sample per release and stage.
    """

    names: tuple[str, str]
    rows: tuple[Compared, ...]
    failures: tuple[Compared, ...]
    quantiles: tuple[Compared, ...]
    errors: tuple[Compared, ...]
    distributions: tuple[Distribution, ...]

    def as_json(self) -> dict[str, Any]:
        """Return everything but the histograms."""
        parts = ("rows", "failures", "quantiles", "errors")
        return {"releases": list(self.names)} | {p: [asdict(c) for c in getattr(self, p)] for p in parts}


def compare_releases(
    one: ReleaseTables,
    other: ReleaseTables,
    errors: tuple[Sequence[PredictorError], Sequence[PredictorError]] = ((), ()),
) -> ReleaseDifference:
    """Compare two releases.

    Args:   errors: of predictors trained on each; those of a table `leaderboard` and the baselines of the
            release are added.
    Raises: ReleaseError: a file cannot be read.
    """
    both = (one, other)
    names = _names(one, other)
    samples = {target: _samples(both, names, target) for target in TARGETS}
    quantities = {q.column: q for q in LABELS}
    distributions = tuple(
        distribution(_in_table_unit(quantities[target]), values)
        for target, values in samples.items()
        if values
    )
    return ReleaseDifference(
        names=names,
        rows=_compared([{(n,): r for n, r in tables.manifest.rows.items()} for tables in both]),
        failures=_compared([_failures(tables) for tables in both]),
        quantiles=_compared([_quantiles(distributions, name) for name in names]),
        errors=_compared([_errors(t, e) for t, e in zip(both, errors, strict=True)]),
        distributions=distributions,
    )


def _names(one: ReleaseTables, other: ReleaseTables) -> tuple[str, str]:
    names = one.manifest.name, other.manifest.name
    return names if names[0] != names[1] else (f"{names[0]}, first", f"{names[1]}, second")


def _in_table_unit(quantity: Quantity) -> Quantity:
    return Quantity(column=quantity.column, title=quantity.title, unit=quantity.unit)


def _compared(sides: Sequence[Mapping[tuple[str, ...], float]]) -> tuple[Compared, ...]:
    one, other = sides
    return tuple(Compared(what=w, one=one.get(w), other=other.get(w)) for w in dict.fromkeys([*one, *other]))


def _samples(both: Iterable[ReleaseTables], names: Iterable[str], target: str) -> dict[str, pl.Series]:
    """Return the values by release and stage, stages together so that both releases of one are neighbours."""
    found: dict[tuple[str, str], pl.Series] = {}
    for tables, name in zip(both, names, strict=True):
        if not {TARGETS[target], "designs", "programs"} <= set(tables):
            continue
        values = target_values(tables, target).collect()
        for stage in STAGE_ORDER:
            own = values.filter(pl.col("stage") == stage)["value"]
            if own.len():
                found[stage, name] = own
    order = sorted(found, key=lambda key: STAGE_ORDER.index(key[0]))
    return {f"{name} {stage}": found[stage, name] for stage, name in order}


def _failures(tables: ReleaseTables) -> dict[tuple[str, ...], float]:
    counts: dict[tuple[str, ...], float] = {}
    for name in tables:
        if not {"status", "reason"} <= set(table_spec(name).schema().names):
            continue
        failed = tables[name].filter(pl.col("status") != OK)
        reason = pl.col("reason").fill_null("no reason").str.replace_all(r"\s+", " ")
        rows = failed.group_by("status", reason.str.slice(0, REASON_LENGTH)).len()
        for status, text, number in (
            rows.sort("len", "status", "reason", descending=True).collect().iter_rows()
        ):
            counts[name, status, text] = number
    return counts


def _quantiles(distributions: Iterable[Distribution], name: str) -> dict[tuple[str, ...], float]:
    values: dict[tuple[str, ...], float] = {}
    for own in distributions:
        for sample in own.stages:
            if sample.stage.startswith(f"{name} "):
                stage, at = sample.stage.removeprefix(f"{name} "), sample.quantiles
                figures = {"values": at.count, "5 %": at.p5, "median": at.median, "95 %": at.p95}
                values |= {(own.quantity.column, stage, what): v for what, v in figures.items()}
    return values


def _errors(tables: ReleaseTables, trained: Sequence[PredictorError]) -> dict[tuple[str, ...], float]:
    values = {(e.predictor, e.target, e.part): e.value for e in trained}
    if "leaderboard" in tables:
        rows = tables["leaderboard"].filter((pl.col("metric") == "mape") & pl.col("value").is_not_null())
        for row in rows.collect().iter_rows(named=True):
            values.setdefault((row["predictor"], row["target"], row["part"]), row["value"])
    for baseline in read_baselines(tables.folder, tables.manifest):
        if baseline.metric == "mape" and baseline.value is not None:
            values.setdefault((baseline.predictor, baseline.target, baseline.part), baseline.value)
    return values


# ---- page ------------------------------------------------------------------------------------------


def draw_difference(difference: ReleaseDifference) -> str:
    """Draw the comparison as one HTML file that needs nothing else, the same for the same figures."""
    one, other = difference.names
    shown = difference.failures[:REASONS_SHOWN]
    panels = [distribution_panel(own) for own in difference.distributions]
    drawn = [
        section("rows", "Rows", _table(difference, difference.rows, ("Table",), _whole)),
        section(
            "targets",
            "Targets",
            note("Rows that are ok, by release and stage. The line is from the 5th to the 95th percentile."),
            element("div", panels, class_="panels two"),
        ),
        section(
            "errors",
            "Errors of predictors",
            _table(difference, difference.errors, ("Predictor", "Target", "Part"), percent)
            if difference.errors
            else note("No leaderboard, and no predictor was trained."),
        ),
        section(
            "failures",
            "Failures",
            _table(difference, shown, ("Table", "Status", "Reason"), _whole)
            if shown
            else note("No row failed."),
            note(f"{len(difference.failures) - len(shown)} more reasons.")
            if len(shown) < len(difference.failures)
            else None,
        ),
    ]
    title = f"{one} and {other}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · Simfoundry"),
        element("style", _drawing_file("page.css"), _colours(difference)),
    )
    links = [element("li", element("a", name.capitalize(), href=f"#{name}")) for name in _SECTIONS]
    body = element(
        "body",
        element("nav", element("ul", links), aria_label="Sections"),
        element("main", element("header", element("h1", title)), drawn),
        element("script", _drawing_file("page.js")),
    )
    return "<!DOCTYPE html>\n" + render(element("html", head, body, lang="en")) + "\n"


_SECTIONS = ("rows", "targets", "errors", "failures")


def _drawing_file(name: str) -> str:
    return files("pipelines.dataset.reports.drawing").joinpath(name).read_text(encoding="utf-8")


def _colours(difference: ReleaseDifference) -> str:
    """Return one colour per release; the style sheet has them by stage."""
    colours = dict(zip(difference.names, ("kernel", "ast"), strict=True))
    return "".join(
        f"\n.stage-{slug(sample.stage)} {{ color: var(--{colours[name]}); }}"
        for own in difference.distributions[:1]
        for sample in own.stages
        for name in difference.names
        if sample.stage.startswith(f"{name} ")
    )


def _whole(value: float | None) -> str:
    return "–" if value is None else count(int(value))


def _table(
    difference: ReleaseDifference, rows: Sequence[Compared], heads: Sequence[str], shown: Any
) -> Element:
    columns = [*(Column(title=h, kind=TEXT) for h in heads), *(Column(title=n) for n in difference.names)]
    cells = [(*row.what, shown(row.one), shown(row.other)) for row in rows]
    return tabulate(heads[0], columns, cells)


def difference_lines(difference: ReleaseDifference) -> list[tuple[str, ...]]:
    """Return rows, medians and errors as a table of texts for a terminal."""
    medians = [q for q in difference.quantiles if q.what[-1] == "median"]
    return [
        ("", *difference.names),
        *((f"rows of {c.what[0]}", _whole(c.one), _whole(c.other)) for c in difference.rows),
        *((f"median {c.what[0]}, {c.what[1]}", figure(c.one), figure(c.other)) for c in medians),
        *((f"error {', '.join(c.what)}", percent(c.one), percent(c.other)) for c in difference.errors),
        *(
            (f"{c.what[0]} {c.what[1]}: {c.what[2]}", _whole(c.one), _whole(c.other))
            for c in difference.failures[:10]
        ),
    ]
