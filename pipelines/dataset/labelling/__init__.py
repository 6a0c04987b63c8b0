"""Labelling: programs under configurations through HLS, native C, RTL simulation and logic synthesis.

Belongs here: the order of the engines, the truth checks between them, and the cache. Does not: any engine.
Outside this package only the names below are used.
"""

from pipelines.dataset.labelling.cache import (
    designs_version,
    has_present_labels,
    inputs_version,
    labels_version,
    present_versions,
)
from pipelines.dataset.labelling.cache_import import CacheImport, ProgramRows, import_rows
from pipelines.dataset.labelling.configurations import (
    ConfigurationSpace,
    planned_ids,
    read_unit_limits,
    sampled_configurations,
    space_in_keys,
)
from pipelines.dataset.labelling.cross_checks import CROSS_CHECK_LIMITS, cross_check_designs
from pipelines.dataset.labelling.external_tools import LabellingError, require_tools
from pipelines.dataset.labelling.flows import rtl_of
from pipelines.dataset.labelling.inputs import describe_inputs
from pipelines.dataset.labelling.label import (
    CountedDesign,
    DesignTables,
    LabelledDesign,
    count_design,
    label_design,
    label_designs,
    plan_designs,
)
from pipelines.dataset.labelling.loops import loop_counts
from pipelines.dataset.labelling.options import (
    AUDIT_ENGINES,
    DEFAULT_OPTIONS,
    SLOTTED,
    TOOLS,
    LabelContext,
    Labelling,
    LabelOptions,
    Synthesis,
    ToolContext,
    liberty_name,
    library_name,
)
from pipelines.dataset.labelling.registry import (
    SYNTHESIS_TOOLS,
    TARGETS,
    RegisteredSynthesis,
    label_targets,
    target_versions,
)
from pipelines.dataset.labelling.synthesis import LabelTables
from pipelines.dataset.labelling.targets import LabelTarget, SecondTarget

__all__ = [
    "AUDIT_ENGINES",
    "CROSS_CHECK_LIMITS",
    "DEFAULT_OPTIONS",
    "SLOTTED",
    "SYNTHESIS_TOOLS",
    "TARGETS",
    "TOOLS",
    "CacheImport",
    "ConfigurationSpace",
    "CountedDesign",
    "DesignTables",
    "LabelContext",
    "LabelOptions",
    "LabelTables",
    "LabelTarget",
    "LabelledDesign",
    "Labelling",
    "LabellingError",
    "ProgramRows",
    "RegisteredSynthesis",
    "SecondTarget",
    "Synthesis",
    "ToolContext",
    "count_design",
    "cross_check_designs",
    "describe_inputs",
    "designs_version",
    "has_present_labels",
    "import_rows",
    "inputs_version",
    "label_design",
    "label_designs",
    "label_targets",
    "labels_version",
    "liberty_name",
    "library_name",
    "loop_counts",
    "plan_designs",
    "planned_ids",
    "present_versions",
    "read_unit_limits",
    "require_tools",
    "rtl_of",
    "sampled_configurations",
    "space_in_keys",
    "target_versions",
]
