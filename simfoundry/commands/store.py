"""`simfoundry store`: what the catalogue of a team has, and sweeping its store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from assets.deployments import CATALOGUE_VARIABLE, STORE_VARIABLE, find_deployment
from assets.errors import FoundryError
from assets.shared_tables import open_catalogue
from simfoundry.commands.aligned import aligned_lines

if TYPE_CHECKING:
    from assets.catalogue import Catalogue

NAMES_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """What the catalogue has.

    Attributes:
        store: URL, without credentials.
        version: of the catalogue.
        tables: shards and rows by table.
    """

    store: str
    version: str
    tables: Mapping[str, tuple[int, int]]

    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        tables = {name: {"shards": shards, "rows": rows} for name, (shards, rows) in self.tables.items()}
        return {**asdict(self), "tables": tables}

    def lines(self) -> Sequence[str]:
        """Return the answer as lines."""
        rows = [(name, f"{shards:,}", f"{rows:,}") for name, (shards, rows) in self.tables.items()]
        head = [f"store              {self.store}", f"catalogue version  {self.version}"]
        return [*head, *aligned_lines([("table", "shards", "rows"), *rows])]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAnswer:
    """Objects of tables that nothing references; deleted or only listed."""

    store: str
    deleted: bool
    objects: tuple[str, ...]
    bytes: int

    def lines(self) -> Sequence[str]:
        """Return the answer as lines: the first names and the sum."""
        hidden = len(self.objects) - NAMES_SHOWN
        more = [f"and {hidden:,} more"] if hidden > 0 else []
        done = "deleted" if self.deleted else "unreferenced, --delete deletes them"
        total = f"{len(self.objects):,} objects of {self.bytes:,} bytes in {self.store}: {done}"
        return [*self.objects[:NAMES_SHOWN], *more, total]


def store_status() -> StoreStatus:
    """Return tables, shards and rows of the catalogue, and its version.

    Raises: FoundryError: the deployment has no catalogue, or it does not answer.
    """
    catalogue = _catalogue()
    from assets.catalogue import catalogue_version

    states = {name: state for name, state in catalogue.states().items() if state.shards}
    tables = {name: (len(state.shards), state.rows) for name, state in states.items()}
    return StoreStatus(store=catalogue.store, version=catalogue_version(states), tables=tables)


def sweep_store(*, hours: float, delete: bool) -> SweepAnswer:
    """List the objects of tables that no snapshot references, or delete them.

    Args:   hours: age of the youngest one; what is younger may be about to be published.
    Raises: FoundryError: the deployment has no catalogue, or it does not answer.
    """
    catalogue = _catalogue()
    swept = catalogue.sweep(older=timedelta(hours=hours), delete=delete)
    return SweepAnswer(store=catalogue.store, deleted=delete, objects=swept.names, bytes=swept.size)


def _catalogue() -> Catalogue:
    catalogue = open_catalogue(find_deployment())
    if catalogue is None:
        raise FoundryError(
            f"this deployment has no catalogue; {STORE_VARIABLE} and {CATALOGUE_VARIABLE} name one"
        )
    return catalogue
