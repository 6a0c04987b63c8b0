"""Features of programs and designs: loop nests, control/data-flow graphs, frozen splits.

Outside this package only the names below are used.
"""

from pipelines.features.control import control_class
from pipelines.features.extraction import (
    GRAPH_TABLES,
    FeatureRows,
    FeatureTables,
    Graphs,
    extract_features,
    extract_loops,
    feature_version,
    graph_rows,
    import_features,
)
from pipelines.features.splits import (
    BY_KERNEL_V2,
    EVALUATION,
    UNSEEN_DELAY,
    SplitError,
    evaluation_twins,
    freeze_split,
    split_part,
)

__all__ = [
    "BY_KERNEL_V2",
    "EVALUATION",
    "GRAPH_TABLES",
    "UNSEEN_DELAY",
    "FeatureRows",
    "FeatureTables",
    "Graphs",
    "SplitError",
    "control_class",
    "evaluation_twins",
    "extract_features",
    "extract_loops",
    "feature_version",
    "freeze_split",
    "graph_rows",
    "import_features",
    "split_part",
]
