"""A user in a real browser: the asset graph, one shard materialised, its checks and its plot."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_pages import (
    SHARD,
    check_outcomes,
    check_partitions,
    launch_shard,
    open_plot,
    opened_browser,
    served_pages,
)

from assets.dagster_assets import rules_of


@pytest.mark.slow
def test_a_shard_is_materialised_from_the_asset_graph(project: Path) -> None:
    with opened_browser() as page, served_pages(project) as addresses:
        launch_shard(page, addresses.dagster)
        plot = open_plot(page, addresses.dagster, "labels")
        plot.wait_for()
        assert str(plot.get_attribute("alt")).startswith("distribution of area_um2")
        assert plot.evaluate("image => image.naturalWidth") > 100
        outcomes = check_outcomes(page, addresses.dagster, "labels")
        assert outcomes == {rule.name: "Succeeded" for rule in rules_of("labels")}
        counts = check_partitions(page, "equals_native_c")
        assert counts == {"Failed": "0", "Missing": "0", "Passed": "1"}
    tables = project / "data" / "tables"
    assert (tables / "labels" / f"{SHARD}.parquet").is_file()
