"""Tenset-MLP: a multi-layer perceptron on coarse handcrafted features (LLMulator, section 7.1).

Belongs here: the baseline's features, network, training and serving. Does not: metrics, the
registry. Importing this package loads no learning framework; `train_tenset_mlp` does when it has to
train.
"""

from models.tenset_mlp.train import NAME, TrainOptions, train_tenset_mlp, training_key

__all__ = ["NAME", "TrainOptions", "train_tenset_mlp", "training_key"]
