from __future__ import annotations

import pytest

from pipelines.dataset.reports import ReportError
from pipelines.dataset.reports.drawing.markup import element, render


def test_text_and_attributes_are_escaped() -> None:
    made = element("p", "<script>&", element("b", "x"), title='"><script>')
    assert render(made) == '<p title="&quot;&gt;&lt;script&gt;">&lt;script&gt;&amp;<b>x</b></p>'


def test_names_numbers_and_flags_become_attributes() -> None:
    made = element("line", class_="grid", stroke_width=1.505, x1=-0.001, hidden=True, id=None, open=False)
    assert render(made) == '<line class="grid" stroke-width="1.5" x1="0" hidden></line>'


def test_children_may_be_lists_and_nothing() -> None:
    assert render(element("ul", [element("li", "a"), None], None, "b")) == "<ul><li>a</li>b</ul>"
    assert render(element("br")) == "<br>"


def test_markup_rejects_a_name_that_is_none() -> None:
    with pytest.raises(ReportError, match="a name in markup must be letters, digits and hyphens, got 'a b'"):
        element("a b")
    with pytest.raises(ReportError, match="got 'on<x'"):
        element("p", **{"on<x": "1"})


def test_markup_rejects_content_of_an_element_that_has_none() -> None:
    with pytest.raises(ReportError, match="an element that ends itself must have no content, got some in br"):
        element("br", "x")


def test_markup_rejects_a_script_that_could_end_itself() -> None:
    with pytest.raises(ReportError, match="content of script must not hold an end tag"):
        render(element("script", "if (1) '</script>'"))
