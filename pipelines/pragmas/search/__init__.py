"""Searches for the best directives: Algorithm 1 of NLP-DSE, searches to compare with, and evaluators.

Belongs here: searches, what measures for them, configurations as directives and as C text. Does not: the
convex program (`nlp/`), bounds (`bound/`). An evaluator is any object with `name` and
`evaluate(configuration)`. Outside this package only the names below are used.
"""

from pipelines.pragmas.exploration import AUTODSE, METHODS, NLP_DSE, RANDOM, SuiteExploration
from pipelines.pragmas.search.baselines import (
    PREDICTED,
    BaselineOptions,
    Predictor,
    explore_all,
    explore_bottlenecks,
    explore_predicted,
    explore_randomly,
)
from pipelines.pragmas.search.directives import MERLIN, OWN, VITIS, annotate
from pipelines.pragmas.search.evaluation import (
    EVALUATED,
    NO_DESIGN,
    PRUNED,
    REPEATED,
    Evaluation,
    Exploration,
    Step,
)
from pipelines.pragmas.search.evaluators import OwnHls, RecordedReports
from pipelines.pragmas.search.ladder import explore
from pipelines.pragmas.search.recommendation import (
    CandidateDesign,
    DirectiveRequest,
    Recommendation,
    recommend,
)
from pipelines.pragmas.search.state import LadderOptions
from pipelines.pragmas.search.suite import (
    Explored,
    exploration_ids,
    exploration_rows,
    explore_suite,
    named_programs,
    pragmas_version,
)

__all__ = [
    "AUTODSE",
    "EVALUATED",
    "MERLIN",
    "METHODS",
    "NLP_DSE",
    "NO_DESIGN",
    "OWN",
    "PREDICTED",
    "PRUNED",
    "RANDOM",
    "REPEATED",
    "VITIS",
    "BaselineOptions",
    "CandidateDesign",
    "DirectiveRequest",
    "Evaluation",
    "Exploration",
    "Explored",
    "LadderOptions",
    "OwnHls",
    "Predictor",
    "Recommendation",
    "RecordedReports",
    "Step",
    "SuiteExploration",
    "annotate",
    "exploration_ids",
    "exploration_rows",
    "explore",
    "explore_all",
    "explore_bottlenecks",
    "explore_predicted",
    "explore_randomly",
    "explore_suite",
    "named_programs",
    "pragmas_version",
    "recommend",
]
