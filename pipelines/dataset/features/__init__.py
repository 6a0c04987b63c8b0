"""Features of programs and designs: loop nests, control/data-flow graphs, estimates, frozen splits.

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
from pipelines.dataset.features.splits import (
    BY_KERNEL,
    BY_KERNEL_V2,
    EVALUATION,
    EXCLUDED,
    LEARNED_PARTS,
    SEEN_DELAYS,
    UNSEEN_DELAY,
    HashOf,
    SplitError,
    design_part,
    evaluation_twins,
    freeze_split,
    last_split,
    places_by_name,
    source_hash,
)

__all__ = [
    "BY_KERNEL",
    "BY_KERNEL_V2",
    "EVALUATION",
    "EXCLUDED",
    "GRAPH_TABLES",
    "KIND_OF",
    "LEARNED_PARTS",
    "OPERATIONS",
    "PARTS",
    "SEEN_DELAYS",
    "UNSEEN_DELAY",
    "DesignEstimate",
    "DesignKnowledge",
    "FeatureRows",
    "FeatureTables",
    "Graphs",
    "HashOf",
    "SplitError",
    "control_class",
    "density_counts",
    "design_part",
    "estimate_design",
    "evaluation_twins",
    "extract_design_features",
    "extract_features",
    "extract_graphs",
    "extract_loops",
    "extract_run_features",
    "feature_version",
    "first_runs",
    "freeze_split",
    "graph_rows",
    "import_features",
    "know_design",
    "know_run",
    "knowledge_version",
    "last_split",
    "late_loop_of",
    "places_by_name",
    "source_hash",
]
