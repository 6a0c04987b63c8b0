"""Features of programs and designs: loop nests, control/data-flow graphs, estimates.

Outside this package only the names below are used.
"""

from pipelines.dataset.features.activity import KIND_OF, OPERATIONS, PARTS
from pipelines.dataset.features.assumed import density_counts
from pipelines.dataset.features.control import control_class
from pipelines.dataset.features.design_tables import (
    DesignKnowledge,
    extract_design_features,
    extract_run_features,
    first_runs,
    know_design,
    know_run,
    knowledge_version,
    late_loop_of,
)
from pipelines.dataset.features.estimates import DesignEstimate, estimate_design
from pipelines.dataset.features.extraction import (
    GRAPH_TABLES,
    FeatureRows,
    FeatureTables,
    Graphs,
    extract_features,
    extract_graphs,
    extract_loops,
    feature_version,
    graph_rows,
    import_features,
)

__all__ = [
    "GRAPH_TABLES",
    "KIND_OF",
    "OPERATIONS",
    "PARTS",
    "DesignEstimate",
    "DesignKnowledge",
    "FeatureRows",
    "FeatureTables",
    "Graphs",
    "control_class",
    "density_counts",
    "estimate_design",
    "extract_design_features",
    "extract_features",
    "extract_graphs",
    "extract_loops",
    "extract_run_features",
    "feature_version",
    "first_runs",
    "graph_rows",
    "import_features",
    "know_design",
    "know_run",
    "knowledge_version",
    "late_loop_of",
]
