"""Labelling: programs under configurations through HLS, native C, RTL simulation and logic synthesis.

Belongs here: the order of the engines, the truth checks between them, the pool of workers and the cache.
Does not: any engine. Outside this package only the names below are used.
"""

from pipelines.labelling.attempts import LabelledDesign, label_design, liberty_name
from pipelines.labelling.backends import TOOLS, LabellingError, require_tools
from pipelines.labelling.configurations import (
    ConfigurationSpace,
    configurations,
    planned_ids,
    sampled_configurations,
)
from pipelines.labelling.counted import CountedDesign, count_design
from pipelines.labelling.cross_checks import CROSS_CHECK_LIMITS
from pipelines.labelling.mapping import MappingSampling
from pipelines.labelling.options import SLOTTED, LabelOptions, Progress, ProgressCallback, silent
from pipelines.labelling.other_designs import rtl_of
from pipelines.labelling.placed_labels import SYNTHESIS_TOOLS, place_designs
from pipelines.labelling.pool import Outcome, begin_worker, run_all
from pipelines.labelling.remembering import ProgramRows, Remembered, remember
from pipelines.labelling.samples import cross_check_designs
from pipelines.labelling.tables import DesignTables, LabelTables, label_designs, plan_designs
from pipelines.labelling.versions import (
    designs_version,
    has_present_labels,
    labels_version,
    present_versions,
)

__all__ = [
    "CROSS_CHECK_LIMITS",
    "SLOTTED",
    "SYNTHESIS_TOOLS",
    "TOOLS",
    "ConfigurationSpace",
    "CountedDesign",
    "DesignTables",
    "LabelOptions",
    "LabelTables",
    "LabelledDesign",
    "LabellingError",
    "MappingSampling",
    "Outcome",
    "ProgramRows",
    "Progress",
    "ProgressCallback",
    "Remembered",
    "begin_worker",
    "configurations",
    "count_design",
    "cross_check_designs",
    "designs_version",
    "has_present_labels",
    "label_design",
    "label_designs",
    "labels_version",
    "liberty_name",
    "place_designs",
    "plan_designs",
    "planned_ids",
    "present_versions",
    "remember",
    "require_tools",
    "rtl_of",
    "run_all",
    "sampled_configurations",
    "silent",
]
