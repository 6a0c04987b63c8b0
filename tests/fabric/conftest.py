"""Compiled engines, a small fabric, and a graph that fills most of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.fabric import Fabric, Graph, lower
from tests.fabric import small_layers


@pytest.fixture(scope="session")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fabric-engines")


@pytest.fixture(scope="session")
def small_fabric() -> Fabric:
    return small_layers.small_fabric()


@pytest.fixture(scope="session")
def small_graph(small_fabric: Fabric) -> Graph:
    return lower("ffn", small_layers.small_layer(), small_fabric)
