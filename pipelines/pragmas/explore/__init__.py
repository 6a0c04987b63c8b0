"""Searches for the best directives: Algorithm 1 of NLP-DSE, its rivals, and what measures for them.

An evaluator is any object with `name` and `evaluate(configuration)`; those here are our own high-level
synthesis, a folder of reports, and a table of results.
"""

from pipelines.pragmas.explore.annotate import MERLIN, STYLES, VITIS, annotate
from pipelines.pragmas.explore.bottleneck import AUTODSE, RivalOptions, explore_bottlenecks
from pipelines.pragmas.explore.directives import hls_directives, partition_factors, strips_design
from pipelines.pragmas.explore.evaluation import Evaluation, Evaluator
from pipelines.pragmas.explore.keys import configuration_key, configuration_of_key
from pipelines.pragmas.explore.ladder import explore
from pipelines.pragmas.explore.own_hls import OwnHls
from pipelines.pragmas.explore.predicted import PREDICTED, Predictor, explore_predicted
from pipelines.pragmas.explore.recorded import RecordedReports, RecordedTable
from pipelines.pragmas.explore.rows import Explored, exploration_rows
from pipelines.pragmas.explore.sampling import EXHAUSTIVE, RANDOM, explore_all, explore_randomly
from pipelines.pragmas.explore.steps import EVALUATED, NO_DESIGN, PRUNED, REPEATED, Exploration, Step
from pipelines.pragmas.explore.suite import METHODS, SuiteExploration, explore_suite
from pipelines.pragmas.explore.walking import LADDER, NLP_DSE, LadderOptions

__all__ = [
    "AUTODSE",
    "EVALUATED",
    "EXHAUSTIVE",
    "LADDER",
    "MERLIN",
    "METHODS",
    "NLP_DSE",
    "NO_DESIGN",
    "PREDICTED",
    "PRUNED",
    "RANDOM",
    "REPEATED",
    "STYLES",
    "VITIS",
    "Evaluation",
    "Evaluator",
    "Exploration",
    "Explored",
    "LadderOptions",
    "OwnHls",
    "Predictor",
    "RecordedReports",
    "RecordedTable",
    "RivalOptions",
    "Step",
    "SuiteExploration",
    "annotate",
    "configuration_key",
    "configuration_of_key",
    "exploration_rows",
    "explore",
    "explore_all",
    "explore_bottlenecks",
    "explore_predicted",
    "explore_randomly",
    "explore_suite",
    "hls_directives",
    "partition_factors",
    "strips_design",
]
