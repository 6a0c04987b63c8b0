"""Measured figures: rows of docs/results/figures.jsonl, and whether their engines changed since.

`make docs` prints the pages of results from these rows; benchmarks write them
(`tests/benchmarks/recording.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache
from pathlib import Path

from assets import engines
from assets.engines import Engine, engine, training_engine
from assets.errors import FoundryError
from pipelines.dataset.labelling import TARGETS
from pipelines.schemas import write_bytes_atomically

FIGURES_FILE = engines.ROOT / "docs" / "results" / "figures.jsonl"

AREAS = {
    "main_job": "Main job",
    "predictor": "Predictors",
    "hls": "High-level synthesis",
    "synthesis": "Logic synthesis",
    "power": "Power",
    "programs": "Programs",
    "labelling": "Labelling",
    "releases": "Releases",
    "network": "Networks",
    "directives": "Directives",
    "place_and_route": "Place and route",
    "rtl_simulation": "RTL simulation",
    "accelerators": "Accelerators",
    "onnx": "ONNX models",
    "numeric_lm": "Numeric language model",
    "cluster": "Past one machine",
    "faults": "Faults",
    "tests": "Tests",
    "size": "Size",
}
"""Title of each area; each has a page."""

PAPERS = (
    "LLMulator",
    "Compilation tells energy",
    "Learned place and route",
    "NLP-DSE",
    "Parallel RTL and network simulation",
)
SUMMARIES = (*PAPERS, "performance", "reliability", "ecosystem")
"""Parts of the page of results, by the `summary` of their rows."""

Value = float | str
"""A number, or a text where the figure is no single number (`5,000 of 5,000`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure: a line of figures.jsonl.

    Attributes:
        figure: what was measured; unique in the section.
        section: heading on the page of the area.
        value: the measurement, or several by name (a row of a grid).
        unit: of a number; empty for text.
        interval: of the value, in its unit; empty where none was computed.
        goal: the goal; empty without one.
        missed: whether the value, or one of several, misses the goal.
        paper: the paper's figure; empty without one.
        command: prints the figure; capitals stand for files and folders.
        commit: the revision that was measured.
        engines: version of each measured engine at that commit, see `engine_versions`.
        machine: where it was measured.
        date: day of the measurement.
        summary: the part of docs/results.md that shows the row, of SUMMARIES; empty for none.
    """

    figure: str
    area: str
    section: str
    value: Value | Mapping[str, Value]
    unit: str = ""
    interval: str = ""
    goal: str = ""
    missed: bool = False
    paper: str = ""
    command: str
    commit: str
    engines: Mapping[str, str] = field(default_factory=dict[str, str])
    machine: str
    date: str
    summary: str = ""

    @property
    def anchor(self) -> str:
        """Name of the row on the page of its area."""
        return slug(self.figure if self.section == AREAS[self.area] else f"{self.section} {self.figure}")

    @property
    def values(self) -> Mapping[str, Value]:
        """Values by name; a single one has the name `measured`."""
        return self.value if isinstance(self.value, Mapping) else {"measured": self.value}

    def stale_mark(self, present: Mapping[str, str]) -> str:
        """Say which engines changed since the measurement; empty when none did."""
        changed = [
            f"{name} {version}, now {present.get(name, 'gone')}"
            for name, version in self.engines.items()
            if present.get(name) != version
        ]
        return f"to be measured again (engine {'; '.join(changed)})" if changed else ""


def slug(text: str) -> str:
    """Return the anchor of a heading, as Markdown renderers derive it."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


@cache
def engine_versions() -> Mapping[str, str]:
    """Return the present version of every engine of `assets.engines` and of every predictor, by name.

    A target of labels has the name of its module, a predictor that of its package; `compile_power_fixed` is
    that of the constant `_FIXED_VERSION`. Only constants of the source are read; no tool runs.
    """
    known = {name.lower(): value for name, value in vars(engines).items() if isinstance(value, Engine)}
    for target in TARGETS:
        known.setdefault(target.__module__.rpartition(".")[2], engine(*target.constants))
    for file in sorted((engines.ROOT / "models").glob("*/__init__.py")):
        package = file.parent.name
        for constant in training_engine(package).constants:
            kind = constant.name.lower().removesuffix("version").rstrip("_")
            known[package + kind] = Engine((constant,))
    return {name: version_of(engine) for name, engine in known.items()}


def version_of(engine: Engine, root: Path = engines.ROOT) -> str:
    """Return the version constants of an engine, in order, joined by `+`."""
    values = (constant.read(root) for constant in engine.constants)
    return "+".join(
        str(part) for value in values for part in (value.values() if isinstance(value, dict) else [value])
    )


# ---- file ----------------------------------------------------------------------------------------------


def read_figures(path: Path = FIGURES_FILE) -> list[Figure]:
    """Read the rows of the file.

    Raises: FoundryError: a line is no figure, or two rows have one name.
    """
    rows: list[Figure] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            rows.append(_figure(json.loads(line)))
        except ValueError as error:
            raise FoundryError(f"{error} ({path}:{number})") from error
    names = [(row.area, row.anchor) for row in rows]
    if twice := {name for name in names if names.count(name) > 1}:
        raise FoundryError(f"two figures have the name {sorted(twice)[0]} ({path})")
    return rows


def _figure(content: object) -> Figure:
    known = {one.name for one in fields(Figure)}
    required = {o.name for o in fields(Figure) if o.default is MISSING and o.default_factory is MISSING}
    if not isinstance(content, dict) or content.keys() - known or required - content.keys():
        raise ValueError(f"not a figure; accepted: an object of {', '.join(sorted(known))}")
    row = Figure(**content)
    if row.area not in AREAS:
        raise ValueError(f"unknown area: {row.area}; accepted: {', '.join(AREAS)}")
    if row.summary not in ("", *SUMMARIES):
        raise ValueError(f"unknown summary: {row.summary}; accepted: {', '.join(SUMMARIES)}")
    return row


def write_figures(rows: Iterable[Figure], path: Path = FIGURES_FILE) -> None:
    """Write rows, one line each, in order of area; within an area the order stays."""
    order = list(AREAS)
    lines = [
        json.dumps(asdict(row), ensure_ascii=False)
        for row in sorted(rows, key=lambda row: order.index(row.area))
    ]
    write_bytes_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def replace_figure(row: Figure, path: Path = FIGURES_FILE) -> None:
    """Put a new measurement in the place of the row of the same name, or at the end."""
    rows = read_figures(path)
    names = [(one.area, one.anchor) for one in rows]
    name = (row.area, row.anchor)
    if name in names:
        rows[names.index(name)] = row
    else:
        rows.append(row)
    write_figures(rows, path)
