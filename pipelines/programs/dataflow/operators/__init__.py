"""The operators a graph is drawn from.

Belongs here: the table of them with their families, and the families' weights. Does not: what one computes
(one module per group of families). The function of an operator takes tensors from an `OperatorBuilder` and
returns a loop tree in its plain order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder
from pipelines.programs.dataflow.operators import (
    attention,
    control,
    convolution,
    irregular,
    linear,
    movement,
    pointwise,
    reduction,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A kind of node: its name, its family and its builder."""

    name: str
    family: str
    build: Callable[[OperatorBuilder], OperatorBody]


CONTROL = "control"
"""Family whose weight is `DataflowOptions.control_weight`."""

FAMILY_WEIGHTS = {
    "linear": 6,
    "convolution": 6,
    "pooling": 3,
    "normalisation": 4,
    "attention": 3,
    "activation": 3,
    "elementwise": 3,
    "reduction": 3,
    "stencil": 3,
    "gather_scatter": 2,
    "reshaping": 3,
    "sorting": 2,
    "sparse": 3,
}
"""Relative frequency of the families."""


def _family(family: str, *builders: Callable[[OperatorBuilder], OperatorBody]) -> tuple[Operator, ...]:
    return tuple(Operator(name=b.__name__, family=family, build=b) for b in builders)


def _named(family: str, **builders: Callable[[OperatorBuilder], OperatorBody]) -> tuple[Operator, ...]:
    return tuple(Operator(name=name, family=family, build=b) for name, b in builders.items())


OPERATORS: tuple[Operator, ...] = (
    *_family(
        "linear",
        linear.matmul,
        linear.matvec,
        linear.batched_matmul,
        linear.outer_product,
        linear.gemm,
        linear.syrk,
        linear.triangular_matvec,
        linear.forward_substitution,
    ),
    *_family(
        "convolution",
        convolution.conv1d,
        convolution.conv2d,
        convolution.depthwise_conv2d,
        convolution.filter2d,
        convolution.transposed_conv1d,
    ),
    *_family(
        "pooling",
        reduction.max_pool2d,
        reduction.average_pool2d,
        reduction.max_pool1d,
        reduction.global_average_pool,
        reduction.pyramid_pool,
    ),
    *_family(
        "normalisation",
        attention.layer_norm,
        attention.rms_norm,
        attention.batch_norm,
        attention.instance_norm,
        attention.softmax,
    ),
    *_family("attention", attention.attention, attention.linear_attention, attention.anchor_scores),
    *_family(
        "activation",
        pointwise.relu,
        pointwise.leaky_relu,
        pointwise.clipped_relu,
        pointwise.sigmoid,
        pointwise.hard_sigmoid,
        pointwise.tanh,
        pointwise.gelu,
        pointwise.swish,
    ),
    *_named(
        "elementwise",
        add=pointwise.add,
        subtract=pointwise.subtract,
        multiply=pointwise.multiply,
        maximum=pointwise.maximum,
        squared_difference=pointwise.squared_difference,
        absolute_difference=pointwise.absolute_difference,
        scale_and_shift=pointwise.scale_and_shift,
        clip=pointwise.clip,
        axpy=pointwise.axpy,
        bias_add=pointwise.bias_add,
        channel_scale=pointwise.channel_scale,
        quotient=pointwise.quotient,
    ),
    *_family(
        "reduction",
        reduction.reduce_sum,
        reduction.reduce_mean,
        reduction.reduce_squares,
        reduction.reduce_absolute,
        reduction.reduce_max,
        reduction.reduce_min,
        reduction.argmax,
        reduction.running_sum,
        reduction.pairwise_distance,
    ),
    *_family("stencil", convolution.stencil1d, convolution.stencil2d, convolution.stencil3d),
    *_family(
        "gather_scatter",
        movement.gather_rows,
        movement.gather_elements,
        movement.scatter_rows,
        movement.scatter_add,
        movement.histogram,
    ),
    *_family(
        "reshaping",
        movement.transpose2d,
        movement.transpose3d,
        movement.flatten,
        movement.split_rows,
        movement.concat,
        movement.crop,
        movement.flip_rows,
        movement.pad,
        movement.upsample,
        movement.pixel_shuffle,
    ),
    *_family(
        "sorting", irregular.insertion_sort, irregular.bitonic_sort, irregular.merge_sort, irregular.top_k
    ),
    *_family(
        "sparse",
        irregular.csr_matvec,
        irregular.csr_matmul,
        irregular.coo_matvec,
        irregular.ell_matmul,
        irregular.sampled_product,
    ),
    *_family(
        CONTROL,
        control.binary_search,
        control.sparse_intersection,
        control.graph_walk,
        control.list_walk,
        control.string_search,
        control.common_divisor,
        control.compact,
        control.first_above,
        control.bubble_sort,
        control.newton_root,
        control.counting_sort,
    ),
)
"""Every operator, by family."""

BY_NAME = {operator.name: operator for operator in OPERATORS}
