"""Features: facts and loop nests of programs, control/data-flow graphs of designs."""

from __future__ import annotations

from assets.engines import FEATURES, HLS
from assets.label_settings import label_options
from assets.settings import Listener, Settings
from assets.step import Output, Step, read_rows
from assets.suites import BY_SUITE
from pipelines.dataset.features import extract_features, feature_version


def make_features(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the features of the programs and designs of a suite."""
    tables = extract_features(
        read_rows(settings, "programs", partition),
        read_rows(settings, "designs", partition),
        cache=settings.cache,
        options=label_options(settings),
        on_progress=listen,
    )
    return Output(
        rows={
            "program_facts": tables.program_facts,
            "loops": tables.loops,
            "cdfg_nodes": tables.cdfg_nodes,
            "cdfg_edges": tables.cdfg_edges,
        }
    )


STEP = Step(
    name="features",
    description="Facts and loop nests of programs, and control/data-flow graphs of designs.",
    run=make_features,
    tables=("program_facts", "loops", "cdfg_nodes", "cdfg_edges"),
    reads=("programs", "designs"),
    partitioned=BY_SUITE,
    engines=(HLS, FEATURES),
    version=lambda settings, partition: feature_version(),  # noqa: ARG005
)
