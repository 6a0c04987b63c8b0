"""Versions are constants: they are what the releases carry, whatever the bytes of the engines' files are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipelines import circt, cyclemodel, hls
from pipelines.dataset.features import feature_version
from pipelines.dataset.labelling import designs_version, has_present_labels, labels_version
from pipelines.network.runs import runs_version
from pipelines.network.simulation.engine import engine_version as network_version
from pipelines.power import tool_version as power_version
from pipelines.pragmas.search.suite import pragmas_version
from pipelines.programs import code_version
from pipelines.rtl import simulation

RELEASES = Path(__file__).parents[2] / "releases"


def tools_of(release: str) -> Mapping[str, str]:
    return json.loads((RELEASES / release / "manifest.json").read_text())["toolset"]["tools"]


@pytest.mark.parametrize("release", ["v1", "network-long-v1"])
def test_versions_of_engines_are_those_of_the_releases(release: str) -> None:
    tools = tools_of(release)
    assert hls.tool_version() == tools["simfoundry-hls"]
    assert power_version() == tools["netlist-simulator"]
    assert feature_version() == tools["features"]
    own = (cyclemodel.engine_version(), simulation.engine_version())
    assert [v.split("+")[1] for v in own] == [tools[k].split("+")[1] for k in ("cycle_model", "verilator")]


def test_labels_of_every_release_are_present_ones() -> None:
    if cyclemodel.engine_version() != tools_of("v1")["cycle_model"]:
        pytest.skip("another gcc than the releases'")
    assert labels_version((hls.TOOL,)) == tools_of("v1")["labelling"]
    assert has_present_labels(tools_of("network-long-v1")["labelling"], (hls.TOOL,))
    assert not has_present_labels("another", (hls.TOOL,))


def test_versions_do_not_depend_on_the_bytes_of_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise AssertionError(f"a version read {path}")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    versions = (
        hls.tool_version,
        feature_version,
        pragmas_version,
        power_version,
        network_version,
        runs_version.__wrapped__,
        code_version.__wrapped__,
        cyclemodel.engine_version.__wrapped__,
        simulation.engine_version.__wrapped__,
        *([circt.tool_version.__wrapped__] if circt.is_installed() else []),
    )
    assert all(version() for version in versions)
    assert labels_version((hls.TOOL,))
    assert designs_version((hls.TOOL,))
