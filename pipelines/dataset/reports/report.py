"""Figures of a folder of tables, and the page that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pipelines.dataset.records import PromptLengths, prompt_lengths
from pipelines.dataset.reports.coverage import Coverage, measure_coverage
from pipelines.dataset.reports.directives import Directives, read_directives
from pipelines.dataset.reports.drawing import judgements, sections
from pipelines.dataset.reports.drawing.grouped import grouped
from pipelines.dataset.reports.drawing.levels import levels
from pipelines.dataset.reports.drawing.markup import (
    Element,
    count,
    element,
    figure,
    percent,
    plural,
    render,
)
from pipelines.dataset.reports.engines import SECTIONS
from pipelines.dataset.reports.generation import Generation, read_generation
from pipelines.dataset.reports.grouped import SectionFigures, read_sections
from pipelines.dataset.reports.inventory import (
    Check,
    Entry,
    Inventory,
    Timing,
    WorkloadError,
    measure_time,
    read_checks,
    read_leaderboard,
    read_workload_errors,
    take_inventory,
)
from pipelines.dataset.reports.levels import Levels, StoredPredictor, read_levels
from pipelines.dataset.reports.networks import Networks, read_networks
from pipelines.dataset.reports.samples import sample_designs, sample_programs
from pipelines.dataset.reports.statistics import (
    Correlations,
    Distribution,
    EstimateComparison,
    compare_estimates,
    correlate,
    label_distributions,
)
from pipelines.dataset.reports.tables import TableSet, read_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one folder of tables; what the tables do not hold is None or empty."""

    name: str
    fingerprint: str
    problems: tuple[str, ...]
    inventory: Inventory
    distributions: tuple[Distribution, ...]
    estimates: tuple[EstimateComparison, ...]
    correlations: Correlations | None
    generation: Generation | None
    lengths: tuple[PromptLengths, ...]
    coverage: Coverage | None
    checks: tuple[Check, ...]
    networks: Networks | None
    directives: Directives | None
    grouped: tuple[SectionFigures, ...]
    timing: Timing | None
    levels: Levels | None
    leaderboard: tuple[Entry, ...]
    workloads: tuple[WorkloadError, ...]


def read_report(folder: Path, *, name: str, stored: Sequence[StoredPredictor] = ()) -> Report:
    """Compute the report of a folder of tables.

    Args:    folder: as for `read_tables`. name: title of the page. stored: of trainings on these tables.
    Returns: figures; what the tables do not hold is None or empty.
    Raises:  ReportError: no tables there.
    """
    return summarise(read_tables(folder, name=name), stored)


def summarise(tables: TableSet, stored: Sequence[StoredPredictor] = ()) -> Report:
    """Compute every figure of the page. The same tables give the same figures."""
    programs = sample_programs(tables)
    designs = sample_designs(tables, programs)
    board = read_leaderboard(tables)
    return Report(
        name=tables.name,
        fingerprint=tables.fingerprint,
        problems=tables.problems,
        inventory=take_inventory(tables, programs, designs),
        distributions=tuple(label_distributions(designs)),
        estimates=tuple(compare_estimates(designs)),
        correlations=correlate(designs),
        generation=read_generation(tables),
        lengths=_lengths(tables),
        coverage=measure_coverage(programs, designs),
        checks=tuple(read_checks(tables)),
        networks=read_networks(tables),
        directives=read_directives(tables),
        grouped=tuple(read_sections(tables, SECTIONS)),
        timing=measure_time(tables, designs),
        levels=read_levels(board, stored),
        leaderboard=tuple(board),
        workloads=tuple(read_workload_errors(tables)),
    )


def _lengths(tables: TableSet) -> tuple[PromptLengths, ...]:
    texts = ("format", "stage", "part", "left_out")
    return tuple(prompt_lengths(tables.scan("records", texts=texts, numbers=("prompt_characters",))))


# ---- page ------------------------------------------------------------------------------------------


def draw_page(report: Report) -> str:
    """Draw the report as one HTML file that needs nothing else.

    Returns: HTML 5 in ASCII and UTF-8 text, no address of anything outside, the same for the same report.
    """
    drawn = _sections(report)
    return (
        "<!DOCTYPE html>\n" + render(element("html", _head(report), _body(report, drawn), lang="en")) + "\n"
    )


def _has_designs(report: Report) -> bool:
    """Tell whether the tables are about programs or their designs, or hold no rows of an engine's own."""
    engines = (report.grouped, report.networks, report.directives)
    return bool(report.inventory.program_count or report.inventory.design_count) or not any(engines)


def _sections(report: Report) -> list[Element]:
    """Draw the sections in the order of the page; those on designs only where the tables are about them."""
    failures = sections.failures(report.inventory)
    engines = [
        *([] if report.networks is None else [judgements.networks(report.networks)]),
        *([] if report.directives is None else [judgements.directives(report.directives)]),
        *(grouped(figures) for figures in report.grouped),
    ]
    rows = sections.row_counts(report.inventory, report.problems)
    timing = judgements.timing(report.timing)
    drawn_levels = [] if report.levels is None else [levels(report.levels)]
    board = judgements.leaderboard(report.leaderboard, report.workloads)
    if not _has_designs(report):
        return [rows, *engines, failures, timing, *drawn_levels, *([board] if report.leaderboard else [])]
    return [
        rows,
        sections.labels(report.distributions),
        sections.estimates(report.estimates),
        sections.correlations(report.correlations),
        failures,
        sections.generation(report.generation),
        *([sections.records(report.lengths)] if report.lengths else []),
        judgements.coverage(report.coverage),
        judgements.checks(report.checks),
        *engines,
        timing,
        *drawn_levels,
        board,
    ]


def _head(report: Report) -> Element:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{report.name} · Simfoundry"),
        element(
            "style",
            _file("page.css"),
            None if report.levels is None else _file("levels.css"),
            None if report.networks is None else _file("networks.css"),
        ),
    )


def _body(report: Report, drawn: list[Element]) -> Element:
    links = [element("li", element("a", _heading(s), href=f"#{_name(s)}")) for s in drawn]
    header = element(
        "header",
        element("p", "Simfoundry", class_="brand"),
        element("h1", report.name),
        element(
            "p",
            f"{plural(len(report.inventory.tables), 'table')}, content {report.fingerprint}. "
            "Every figure is computed from the rows; a failed attempt is a row, too.",
            class_="lead",
        ),
        _tiles(report),
    )
    return element(
        "body",
        element("a", "Skip to the report", href="#report", class_="skip"),
        element(
            "nav", element("p", "Contents", id="contents"), element("ul", links), aria_labelledby="contents"
        ),
        element("main", header, drawn, id="report"),
        element("script", _file("page.js")),
    )


def _name(drawn: Element) -> str:
    return dict(drawn.attributes)["id"]


def _heading(drawn: Element) -> str:
    heading = drawn.children[0]
    return "".join(c for c in heading.children if isinstance(c, str)) if isinstance(heading, Element) else ""


def _file(name: str) -> str:
    return files("pipelines.dataset.reports.drawing").joinpath(name).read_text(encoding="utf-8")


def _tiles(report: Report) -> Element:
    inventory, timing, coverage = report.inventory, report.timing, report.coverage
    shown: list[tuple[str, str]] = []
    if _has_designs(report):
        shown.append((count(inventory.program_count), "programs"))
    if inventory.design_count:
        labelled = inventory.labelled_count / inventory.design_count
        shown += [
            (count(inventory.design_count), "designs"),
            (count(inventory.labelled_count), "fully labelled"),
            (percent(labelled, digits=1), "of the designs ok"),
        ]
    if timing is not None and timing.labelled_count:
        shown.append((figure(timing.designs_per_core_hour), "designs a core-hour"))
    if coverage is not None:
        shown.append((percent(1 - coverage.beyond), "of evaluation programs near training"))
    if report.networks is not None:
        shown.append((count(sum(r.runs for r in report.networks.runs)), "network runs"))
    shown += [(count(figures.count), figures.tile) for figures in report.grouped]
    entries = [element("div", element("dt", what), element("dd", value)) for value, what in shown]
    return element("dl", entries, class_="tiles")
