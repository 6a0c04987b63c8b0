"""Labelling: programs under configurations through HLS, native C, RTL simulation and logic synthesis.

Belongs here: the order of the engines, the truth checks between them, and the cache. Does not: any engine.
Outside this package only the names below are used.
"""

from pipelines.dataset.labelling.cache import (
    CacheImport,
    ProgramRows,
    designs_version,
    has_present_labels,
    import_rows,
    labels_version,
    present_versions,
)
from pipelines.dataset.labelling.configurations import (
    ConfigurationSpace,
    MappingSampling,
    planned_ids,
    sampled_configurations,
)
from pipelines.dataset.labelling.cross_checks import CROSS_CHECK_LIMITS, cross_check_designs
from pipelines.dataset.labelling.external_tools import TOOLS, LabellingError, require_tools
from pipelines.dataset.labelling.flows import rtl_of
from pipelines.dataset.labelling.fpga import label_fpga, lacking_fpga_labels
from pipelines.dataset.labelling.label import (
    CountedDesign,
    DesignTables,
    LabelledDesign,
    count_design,
    label_design,
    label_designs,
    place_designs,
    plan_designs,
)
from pipelines.dataset.labelling.loops import loop_counts
from pipelines.dataset.labelling.options import (
    AUDIT_ENGINES,
    SLOTTED,
    LabelContext,
    LabelOptions,
    ToolContext,
    liberty_name,
)
from pipelines.dataset.labelling.other_libraries import (
    elsewhere_versions,
    label_in_libraries,
    lacking_library_labels,
)
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOLS, LabelTables

__all__ = [
    "AUDIT_ENGINES",
    "CROSS_CHECK_LIMITS",
    "SLOTTED",
    "SYNTHESIS_TOOLS",
    "TOOLS",
    "CacheImport",
    "ConfigurationSpace",
    "CountedDesign",
    "DesignTables",
    "LabelContext",
    "LabelOptions",
    "LabelTables",
    "LabelledDesign",
    "LabellingError",
    "MappingSampling",
    "ProgramRows",
    "ToolContext",
    "count_design",
    "cross_check_designs",
    "designs_version",
    "elsewhere_versions",
    "has_present_labels",
    "import_rows",
    "label_design",
    "label_designs",
    "label_fpga",
    "label_in_libraries",
    "labels_version",
    "lacking_fpga_labels",
    "lacking_library_labels",
    "liberty_name",
    "loop_counts",
    "place_designs",
    "plan_designs",
    "planned_ids",
    "present_versions",
    "require_tools",
    "rtl_of",
    "sampled_configurations",
]
