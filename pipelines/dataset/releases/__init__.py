"""Releases: the tables as files that anybody can check, read and continue from.

Belongs here: the files of a release, their hashes, the card that describes them. Does not: the content cache
(`pipelines.dataset.labelling` and `pipelines.dataset.features` fill it from rows), where a project keeps its
tables. Outside this package only the names below are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipelines.dataset.releases.baselines import Baseline, publish_baselines, read_baselines, tables_hash
from pipelines.dataset.releases.loading import ReleaseTables, load_release
from pipelines.dataset.releases.manifest import (
    MANIFEST_FILE,
    Manifest,
    ReleaseError,
    Toolset,
    read_manifest,
)
from pipelines.dataset.releases.reading import PARAMETERS_FILE, Release, open_release

if TYPE_CHECKING:
    from pipelines.dataset.releases.card import Reproduction
    from pipelines.dataset.releases.checking import (
        FAIL,
        PASS,
        TARGETS,
        CheckLine,
        Floors,
        check_release,
        target_values,
    )
    from pipelines.dataset.releases.writing import (
        ROWS_A_SHARD,
        SIZE_LIMIT_BYTES,
        ReleaseOptions,
        WrittenRelease,
        derived_tables,
        released_tables,
        write_release,
    )

__all__ = [
    "FAIL",
    "MANIFEST_FILE",
    "PARAMETERS_FILE",
    "PASS",
    "ROWS_A_SHARD",
    "SIZE_LIMIT_BYTES",
    "TARGETS",
    "Baseline",
    "CheckLine",
    "Floors",
    "Manifest",
    "Release",
    "ReleaseError",
    "ReleaseOptions",
    "ReleaseTables",
    "Reproduction",
    "Toolset",
    "WrittenRelease",
    "check_release",
    "derived_tables",
    "load_release",
    "open_release",
    "publish_baselines",
    "read_baselines",
    "read_manifest",
    "released_tables",
    "tables_hash",
    "target_values",
    "write_release",
]


def __getattr__(name: str) -> Any:
    """Return the names of modules that need engines and their libraries; readers of a release lack them."""
    for module in ("writing", "card", "checking") if name in __all__ else ():
        loaded = import_module(f"{__name__}.{module}")
        if hasattr(loaded, name):
            return getattr(loaded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
