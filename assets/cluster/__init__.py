"""More than one machine: Ray works on the items of steps; an object store and a catalogue hold tables.

Nothing under `pipelines/` imports this package. Its libraries come with the extra `cluster`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Protocol

from assets.settings import LOCAL, Cluster, Settings
from pipelines.base.workers import fanning_out


class Loads(Protocol):
    """What a step's metadata shows of where its items were worked on."""

    def notes(self) -> dict[str, Any]:
        """Return notes by name."""
        ...


class _OneMachine:
    def notes(self) -> dict[str, Any]:
        """Return no notes: there is one node."""
        return {}


@contextmanager
def fanout_of(settings: Settings) -> Generator[Loads]:
    """Work on the items of steps in the block where the group `cluster` says.

    Raises: ExtraMissing, FoundryError: see `assets.cluster.ray_fanout.connected`.
    """
    cluster = settings.group(Cluster)
    if cluster.kind == LOCAL:
        yield _OneMachine()
        return
    from assets.cluster.ray_fanout import connected  # lazy import: Ray takes 1 s

    with connected(cluster) as fanout, fanning_out(fanout):
        yield fanout
