"""A graph neural network for the latency of directives, relative to the bound that is proven of them.

Belongs here: graphs of programs, features of configurations, the network, its training and file. Does not:
bounds (`pipelines.pragmas.bound`), searches (`pipelines.pragmas.search`).
"""

from models.pragma_gnn.data import (
    MeasuredDesign,
    explored_designs,
    folds_of_programs,
    split_by_configuration,
    vendor_designs,
)
from models.pragma_gnn.fit import FitOptions, fit_pragma_gnn
from models.pragma_gnn.predictor import (
    PragmaGnnPredictor,
    ProgramSurrogate,
    pragma_gnn_bytes,
    read_pragma_gnn,
)

__all__ = [
    "FitOptions",
    "MeasuredDesign",
    "PragmaGnnPredictor",
    "ProgramSurrogate",
    "explored_designs",
    "fit_pragma_gnn",
    "folds_of_programs",
    "pragma_gnn_bytes",
    "read_pragma_gnn",
    "split_by_configuration",
    "vendor_designs",
]
