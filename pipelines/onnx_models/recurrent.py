"""Recurrent operators."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import NodeProto

from pipelines.onnx_models.evaluation import Inference

RECURRENT = ("RNN", "GRU", "LSTM")


def unrolled(node: NodeProto, inference: Inference) -> Iterator[NodeProto]:
    """A node, or what a recurrent one does step by step."""
    yield node
