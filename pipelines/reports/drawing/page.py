"""The whole page: head, navigation, sections, and the files that style it."""

from __future__ import annotations

from importlib.resources import files

from pipelines.reports.content import Report
from pipelines.reports.drawing import generated, judgements, networks, sections
from pipelines.reports.drawing.markup import Element, element, render
from pipelines.reports.drawing.wording import plural

PARTS = (
    sections.made,
    sections.labels,
    sections.estimates,
    sections.correlations,
    sections.failures,
    generated.generation,
    judgements.coverage,
    judgements.checks,
    networks.networks,
    judgements.timing,
    judgements.leaderboard,
)


def draw_page(report: Report) -> str:
    """The report as one HTML file that needs nothing else.

    Returns: HTML 5 in ASCII and UTF-8 text, no address of anything outside, the same for the same report.
    """
    drawn = [found for part in PARTS for found in [part(report)] if found is not None]
    return (
        "<!DOCTYPE html>\n" + render(element("html", _head(report), _body(report, drawn), lang="en")) + "\n"
    )


def _head(report: Report) -> Element:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{report.name} · Simfoundry"),
        element("style", _file("page.css"), None if report.networks is None else _file("networks.css")),
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
        sections.tiles(report),
    )
    return element(
        "body",
        element("a", "Skip to the report", href="#report", class_="skip"),
        element("nav", element("ul", links), aria_label="Sections"),
        element("main", header, drawn, id="report"),
        element("script", _file("page.js")),
    )


def _name(drawn: Element) -> str:
    return dict(drawn.attributes)["id"]


def _heading(drawn: Element) -> str:
    heading = drawn.children[0]
    return "".join(c for c in heading.children if isinstance(c, str)) if isinstance(heading, Element) else ""


def _file(name: str) -> str:
    return files("pipelines.reports.drawing").joinpath(name).read_text(encoding="utf-8")
