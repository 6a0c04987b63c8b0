"""The embedded language model of programs: a small decoder-only transformer sampled under a grammar.

Belongs here: reading programs as tokens, the grammar, the network, its training, variants, the provider and a
server for it. Does not: what becomes of variants. Importing this package loads no learning framework.
"""

from models.program_lm.editing_options import EditOptions
from models.program_lm.provider import EmbeddedProvider
from models.program_lm.training import NAME, TrainedModel, TrainingOptions, trained_model, training_key

__all__ = [
    "NAME",
    "EditOptions",
    "EmbeddedProvider",
    "TrainedModel",
    "TrainingOptions",
    "trained_model",
    "training_key",
]
