"""A small fabric, and a graph that fills most of it."""

from __future__ import annotations

import pytest

from pipelines.fabric import Fabric, Graph, lower
from tests.fabric import small_layers


@pytest.fixture(scope="session")
def small_fabric() -> Fabric:
    return small_layers.small_fabric()


@pytest.fixture(scope="session")
def small_graph(small_fabric: Fabric) -> Graph:
    return lower("ffn", small_layers.small_layer(), small_fabric)
