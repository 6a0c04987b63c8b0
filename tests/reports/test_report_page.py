from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from report_examples import HOSTILE, example_rows

from pipelines.dataset.reports import draw_page, read_report
from pipelines.dataset.reports.drawing.markup import VOID_TAGS

Write = Callable[[Path, Any], Path]
WIDEST_LETTER_SHARE = 0.62
"""Mean advance of letters over their size in DejaVu Sans, the widest face of the style sheet."""


@pytest.fixture
def page(example: Path) -> str:
    return draw_page(read_report(example, name="The <example> & more"))


class _Outline(HTMLParser):
    """Elements with their attributes in order; fails on an end tag that does not match."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _outline(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser.elements


def _drawings(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg .*?</svg>", page, re.DOTALL)]


def test_every_element_is_closed_and_every_id_is_unique(page: str) -> None:
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    elements = _outline(page)
    ids = Counter(str(attributes["id"]) for _, attributes in elements if "id" in attributes)
    assert [name for name, number in ids.items() if number > 1] == []
    for _, attributes in elements:
        for name in str(attributes.get("aria-labelledby", "")).split():
            assert name == "None" or name in ids
        if str(attributes.get("href", "")).startswith("#"):
            assert str(attributes["href"])[1:] in ids


def test_nothing_outside_is_referred_to(page: str) -> None:
    elements = _outline(page)
    allowed = {"html", "head", "meta", "title", "style", "script", "body", "svg", "path", "rect", "circle"}
    assert {tag for tag, _ in elements} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
    } == set()
    assert allowed <= {tag for tag, _ in elements}
    for _, attributes in elements:
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attributes)
        assert str(attributes.get("href", "#")).startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|@font-face", page, re.IGNORECASE)


def test_texts_of_rows_are_only_ever_text(page: str) -> None:
    assert page.count("<script>") == 1
    assert "<script>alert" not in page
    assert "got &lt;script&gt;alert('x')&lt;/script&gt; &amp; \"quotes\" at line 17" in page
    assert "<h1>The &lt;example&gt; &amp; more</h1>" in page


@pytest.mark.parametrize("table", ["programs", "designs", "labels", "runs", "leaderboard", "stage_reports"])
def test_hostile_names_in_any_column_stay_text(tmp_path: Path, write_rows: Write, table: str) -> None:
    rows = example_rows()
    hostile = '"><img src=x onerror=alert(1)>'
    for row in rows[table]:
        for name, value in row.items():
            if isinstance(value, str) and not name.endswith("_id") and name not in ("status", "power_status"):
                row[name] = hostile
    page = draw_page(read_report(write_rows(tmp_path, rows), name=hostile))
    assert "<img" not in page
    assert not any(name.startswith("on") for _, attributes in _outline(page) for name in attributes)


def test_a_status_or_stage_of_another_version_is_drawn_all_the_same(
    tmp_path: Path, write_rows: Write
) -> None:
    rows = example_rows()
    rows["programs"][0] |= {"stage": "a new stage", "status": "odd<status>"}
    page = draw_page(read_report(write_rows(tmp_path, rows), name="x"))
    assert "a new stage" in page
    assert "odd&lt;status&gt;" in page


def test_the_same_tables_give_the_same_bytes(example: Path, page: str) -> None:
    assert draw_page(read_report(example, name="The <example> & more")) == page


def test_the_page_has_all_sections_and_headings_in_order(page: str) -> None:
    assert re.findall(r'<h2 id="(\w+)-heading">', page) == [
        "made",
        "labels",
        "estimates",
        "correlations",
        "failures",
        "generation",
        "coverage",
        "checks",
        "time",
        "levels",
        "leaderboard",
    ]
    levels = [int(tag[1]) for tag, _ in _outline(page) if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_and_headers(page: str) -> None:
    tables = re.findall(r"<table.*?</table>", page, re.DOTALL)
    assert len(tables) > 10
    for table in tables:
        assert re.match(r"<table[^>]*><caption><span>[^<]+", table)
        assert 'scope="col"' in table


def test_drawings_say_what_they_show(page: str) -> None:
    drawings = _drawings(page)
    assert len(drawings) > 20
    for drawing in drawings:
        assert drawing.get("role") == "img"
        names = str(drawing.get("aria-labelledby")).split()
        title, description = drawing[0], drawing[1]
        assert [title.tag, description.tag] == ["title", "desc"]
        assert [title.get("id"), description.get("id")] == names
        assert title.text
        assert description.text


def test_long_names_of_rows_are_cut_to_their_room(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    for row in rows["leaderboard"]:
        row["predictor"] = f"{row['predictor']} than every predictor before it"
    for table in ("programs", "stage_reports"):
        for row in rows[table]:
            row["stage"] = f"{row['stage']} of a later version"
    page = draw_page(read_report(write_rows(tmp_path, rows), name="x"))
    assert re.search(r"better than [a-z ]+…</text>", page)
    test_marks_and_texts_are_inside_their_drawing(page)


def test_marks_and_texts_are_inside_their_drawing(page: str) -> None:
    for drawing in _drawings(page):
        left, top, width, height = (float(v) for v in str(drawing.get("viewBox")).split())
        assert (left, top) == (0, 0)
        for text in drawing.iter("text"):
            size = float(str(text.get("font-size")))
            room = len(text.text or "") * size * WIDEST_LETTER_SHARE
            share = {"start": 0.0, "middle": 0.5, "end": 1.0}[str(text.get("text-anchor"))]
            start = float(str(text.get("x"))) - room * share
            assert start >= -2, text.text
            assert start + room <= width + 2, text.text
            assert size * 0.75 <= float(str(text.get("y"))) <= height - size * 0.2, text.text
        for shape in drawing.iter("rect"):
            x, y, w, h = (float(str(shape.get(name))) for name in ("x", "y", "width", "height"))
            assert min(x, y, w, h) >= -1.01
            assert x + w <= width + 1.01
            assert y + h <= height + 0.01


def test_names_of_quantities_and_stages_are_not_cut(page: str) -> None:
    assert not [t.text for d in _drawings(page) for t in d.iter("text") if str(t.text).endswith("…")]


def test_labels_of_an_axis_do_not_overlap(page: str) -> None:
    for drawing in _drawings(page):
        ends: dict[float, float] = {}
        for text in drawing.iter("text"):
            if text.get("text-anchor") == "middle" and text.get("font-size") == "10.5":
                room = len(text.text or "") * 10.5 * WIDEST_LETTER_SHARE
                x, y = (float(str(text.get(name))) for name in ("x", "y"))
                assert x - room / 2 >= ends.get(y, -1.0)
                ends[y] = x + room / 2


def test_the_style_has_rules_for_every_reader(page: str) -> None:
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert style.count("{") == style.count("}")
    for rule in ("prefers-color-scheme: dark", "max-width: 45rem", "max-width: 75rem", "@media print"):
        assert rule in style
    for stage in ("kernel", "ast", "dataflow", "llm", "evaluation", "unknown"):
        assert len(re.findall(rf"--{stage}:", style)) >= 2  # light and dark
        assert f".stage-{stage} " in style
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page


def test_a_page_of_programs_alone_says_what_is_missing(tmp_path: Path, write_rows: Write) -> None:
    rows = {"programs": [{"program_id": "a", "stage": "ast", "suite": "s", "status": "ok", "reason": None}]}
    page = draw_page(read_report(write_rows(tmp_path, rows), name="x"))
    _outline(page)
    for sentence in (
        "No design is fully labelled yet.",
        "Fewer than three designs are fully labelled.",
        "No row failed.",
        "These tables hold no evaluation programs",
        "These tables hold no comparison with other tools.",
        "These tables have no wall-clock columns.",
        "No predictor was trained on these tables.",
    ):
        assert sentence in page


def test_damaged_files_are_named_on_the_page(example: Path) -> None:
    (example / "runs" / "<b>.parquet").write_bytes(b"nothing")
    page = draw_page(read_report(example, name="x"))
    assert "(runs/&lt;b&gt;.parquet)" in page
    assert HOSTILE.partition(",")[0] in page
