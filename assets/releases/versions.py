"""Versions of tools and engines that the rows of a release follow from."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version

import polars as pl

from assets.errors import FoundryError
from assets.label_settings import label_options, target_of
from assets.settings import Settings
from assets.steps.pragmas import searches_version
from pipelines.base.tools import ToolMissing
from pipelines.dataset.features import (
    feature_version,
)
from pipelines.dataset.labelling import (
    Synthesis,
    has_present_labels,
    labels_version,
    library_name,
    present_versions,
    target_versions,
)
from pipelines.dataset.releases import (
    Manifest,
    Toolset,
)
from pipelines.dataset.releases.toolset import (
    NOT_RECORDED,
    SIMULATIONS,
    named_versions,
    simulator_tool,
    table_tools,
)
from pipelines.fabric.dataset import VERSION as PLACEMENTS_VERSION
from pipelines.network.runs import runs_version
from pipelines.rtl.reuse.choice import simulator_version
from pipelines.rtl.reuse.engines import ENGINES
from pipelines.schemas import (
    read_arrow,
    table_path,
    table_spec,
    to_frame,
)
from pipelines.silicon.synthesis import find_liberty, liberty_sha256

LABELLING, FEATURES, NETWORKS = "labelling", "features", "networks"
PLACEMENTS, SEARCHES = "placements", "searches"
_VERSIONS: Mapping[str, Callable[[], str]] = {
    "da4ml": partial(package_version, "da4ml"),
    "netlist-simulator": lambda: present_versions()["netlist-simulator"],
    "pyosys": lambda: present_versions()["pyosys"],
    **{simulator_tool(engine): partial(simulator_version, engine) for engine in ENGINES},
}
"""How the present version of a tool is found, by its name in a manifest."""


def toolset_of(settings: Settings, partitions: Mapping[str, Sequence[str]]) -> Toolset:
    """Find versions as the rows name them, and the present ones of tools that no row names.

    Args:   partitions: of each table of the release.
    Raises: FoundryError: the rows of a tool have two versions.
    """
    rows = dict(_tool_rows(settings, partitions))
    versions = named_versions(rows)
    for tool, own in versions.items():
        if len(own) > 1:
            raise FoundryError(
                f"the tables must be made by one version of {tool}, got {', '.join(own)}; "
                "run `simfoundry run` again"
            )
    return Toolset(
        tools={"native": present_versions()["native"]}
        | component_versions(settings, partitions)
        | _tool_versions(table_tools(rows))
        | {tool: own[0] for tool, own in versions.items()},
        liberties=liberty_digests(settings),
    )


def liberty_digests(settings: Settings) -> dict[str, str]:
    """Return the SHA-256 of the liberty file of each library that designs are mapped to, by its name.

    Raises: SynthesisError: a liberty is missing or is not liberty.
    """
    others = (find_liberty(name) for name in settings.group(Synthesis).other_libraries)
    return {library_name(path): liberty_sha256(path) for path in (target_of(settings).liberty, *others)}


def _tool_rows(
    settings: Settings, partitions: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, pl.LazyFrame]]:
    """Yield columns of tools of the tables that are there; one that is not is an error when it is written."""
    for table, own in partitions.items():
        spec = table_spec(table)
        names = [name for pair in spec.tool_columns for name in pair] if spec.in_manifest else []
        names = names or (["engine"] if table == SIMULATIONS else [*spec.key[:1]] if spec.tools else [])
        paths = [table_path(settings.deployment.data_dir, spec, p) for p in own if names]
        frames = [to_frame(read_arrow(path, columns=names)) for path in paths if path.is_file()]
        if frames:
            yield table, pl.concat(frames).lazy()


def _tool_versions(names: Sequence[str]) -> dict[str, str]:
    """Return present versions of tools that rows do not name; those that are not installed are left out."""
    versions: dict[str, str] = {}
    for name in names:
        try:
            versions[name] = _VERSIONS[name]()
        except (ToolMissing, PackageNotFoundError):
            continue
    return versions


def component_versions(settings: Settings, tables: Container[str]) -> dict[str, str]:
    """Find versions of what is no tool: labelling, features, networks, placements, searches."""
    networks = {NETWORKS: runs_version()} if settings.configuration.network.groups else {}
    placements = {PLACEMENTS: PLACEMENTS_VERSION} if settings.configuration.placements.groups else {}
    searches = {SEARCHES: searches_version()} if "pragma_designs" in tables else {}
    return {
        LABELLING: labels_version(settings.configuration.labelling.tools),
        FEATURES: feature_version(),
        **networks,
        **placements,
        **searches,
    }


def other_versions(settings: Settings, manifest: Manifest) -> list[str]:
    """List the tools whose version here is not the one of a release, a line each."""
    chosen = settings.configuration.labelling.tools
    own = _tool_versions([tool for tool in manifest.toolset.tools if tool in _VERSIONS])
    here = own | present_versions(chosen) | target_versions(label_options(settings))
    here |= component_versions(settings, manifest.rows)
    return [
        f"{tool} is {here.get(tool, 'not here')}, the release was made with {version}: "
        "its entries will not be found by the present engines"
        for tool, version in manifest.toolset.tools.items()
        if here.get(tool) != version
        and version != NOT_RECORDED
        and not here.get(tool, "").startswith(f"{version} ")
        and not (tool == LABELLING and has_present_labels(version, chosen))
    ]
