"""RouteNet: a graph neural network for the latency of flows, to compare the correction of theory with.

Belongs here: features of graphs, the network, its training and file. Does not: queueing theory
(`pipelines.network.queueing`) and its correction (`models.queue_correction`), simulated runs as arrays
(`models.queue_correction.data`).
"""

from models.routenet.fit import FitOptions, fit_routenet, training_examples
from models.routenet.graph import Graph, graph_of
from models.routenet.network import RouteNet
from models.routenet.predictor import RouteNetPredictor, read_routenet, routenet_bytes

__all__ = [
    "FitOptions",
    "Graph",
    "RouteNet",
    "RouteNetPredictor",
    "fit_routenet",
    "graph_of",
    "read_routenet",
    "routenet_bytes",
    "training_examples",
]
