"""Histograms in the metadata: short enough for the Dagster UI to show them at once, with the right bars."""

from __future__ import annotations

import re
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest

from assets.histograms import BINS, HEIGHT, INLINE_CHARACTERS, histograms


def _drawing(markdown: str) -> ET.Element:
    result = re.fullmatch(r"!\[distribution of \w+\]\(data:image/svg\+xml,([^()\s\"<>]+)\)", markdown)
    assert result is not None
    return ET.fromstring(unquote(result.group(1)))


def _texts(drawing: ET.Element) -> list[str]:
    return [str(text.text) for text in drawing.iter("{http://www.w3.org/2000/svg}text")]


def _bar_heights(drawing: ET.Element) -> list[int]:
    [path] = drawing.iter("{http://www.w3.org/2000/svg}path")
    return [int(height) for height in re.findall(r"v-(\d+)h", path.attrib["d"])]


def test_bars_are_the_rows_that_are_ok() -> None:
    status = ["ok"] * 6 + ["timeout"]
    rows = pa.table({"status": status, "area": [0.0, 0.0, 0.0, 0.0, 10.0, None, 99.0]})
    drawing = _drawing(histograms(rows, ["area"])["distribution of area"])
    assert _texts(drawing) == ["5 rows, at most 4 per bar", "0", "10"]
    assert _bar_heights(drawing) == [HEIGHT, -(-HEIGHT // 4)]


@pytest.mark.parametrize("scale", [1.2345678e-300, 1.0, 123456789.0, 1e300])
def test_the_longest_histogram_is_shown_without_a_click(scale: float) -> None:
    values = np.repeat(np.linspace(-scale, scale, BINS), np.arange(1, BINS + 1) * 5000)
    rows = pa.table({"estimated_dynamic_power_of_all_modules_mw": values})
    [(label, markdown)] = histograms(rows, rows.column_names).items()
    assert label == "distribution of estimated_dynamic_power_of_all_modules_mw"
    assert len(_bar_heights(_drawing(markdown))) == BINS
    assert len(markdown) < INLINE_CHARACTERS


def test_a_column_without_values_is_a_sentence() -> None:
    rows = pa.table({"area": pa.array([None, float("nan")], pa.float64())})
    assert histograms(rows, ["area"]) == {"distribution of area": "No row has a value."}
