"""The section of a card that answers a reviewer's questions, on rows of a release."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.dataset.releases import load_release
from pipelines.dataset.releases.review import READ, review_text


def test_a_review_counts_leaks_selection_and_physics(repository: Path) -> None:
    release = load_release(repository / "releases" / "v2")
    tables: dict[str, pa.Table] = {name: release.arrow(name) for name in READ}
    text = review_text("v2", tables)
    assert "`by_kernel_v2`, 0 groups and 0\nsyntax trees are both in training" in text
    assert "| evaluation | evaluation | 80 | 240 | 240 | 240 |" in text
    assert "| `energy_nj` is power times cycles times period | 4,911 | 0 |" in text
    assert review_text("v2", {name: tables[name] for name in READ[1:]}) == ""
    runs, splits = tables["runs"], tables["splits"]
    doubled = runs.set_column(
        runs.column_names.index("energy_nj"), "energy_nj", pc.multiply(runs["energy_nj"], 2.0)
    )
    mixed = splits.set_column(
        splits.column_names.index("group"), "group", pa.array(["one"] * splits.num_rows)
    )
    broken = review_text("v2", {**tables, "runs": doubled, "splits": mixed})
    assert "| `energy_nj` is power times cycles times period | 4,911 | 4,911 |" in broken
    assert "1 groups and 0\nsyntax trees" in broken
