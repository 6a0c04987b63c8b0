"""Labelling: programs under configurations through HLS, native C, RTL simulation and logic synthesis.

Belongs here: the order of the engines, the truth checks between them, the pool of workers and the cache.
Does not: any engine. Outside this package only the names below are used.
"""

from pipelines.labelling.attempts import LabelledDesign, label_design, liberty_name
from pipelines.labelling.backends import TOOLS, LabellingError, require_tools
from pipelines.labelling.configurations import ConfigurationSpace, configurations, sampled_configurations
from pipelines.labelling.mapping import MappingSampling
from pipelines.labelling.options import LabelOptions, Progress, ProgressCallback, silent
from pipelines.labelling.other_designs import rtl_of
from pipelines.labelling.tables import DesignTables, LabelTables, label_designs, plan_designs

__all__ = [
    "TOOLS",
    "ConfigurationSpace",
    "DesignTables",
    "LabelOptions",
    "LabelTables",
    "LabelledDesign",
    "LabellingError",
    "MappingSampling",
    "Progress",
    "ProgressCallback",
    "configurations",
    "label_design",
    "label_designs",
    "liberty_name",
    "plan_designs",
    "require_tools",
    "rtl_of",
    "sampled_configurations",
    "silent",
]
