"""Neural networks in ONNX files, in the one form that accelerators and fabrics read.

Here belong bounds of foreign models, external data, shapes, constants, and operators that stand for others:
quantised and recurrent ones. What a network costs on hardware belongs to the package of the hardware.
"""

from pipelines.onnx_models.evaluation import evaluator, run
from pipelines.onnx_models.model import OnnxError, OnnxModel, Shape, attributes_of, node_name
from pipelines.onnx_models.quantised import QUANTISED
from pipelines.onnx_models.reading import SHAPES_ALONE, model_of, read_model
from pipelines.onnx_models.recurrent import RECURRENT

__all__ = [
    "QUANTISED",
    "RECURRENT",
    "SHAPES_ALONE",
    "OnnxError",
    "OnnxModel",
    "Shape",
    "attributes_of",
    "evaluator",
    "model_of",
    "node_name",
    "read_model",
    "run",
]
