"""The image workloads of LLMulator's Table 2, 1 to 9, in miniature.

The dynamic parameters are those of the images (rows, columns) and of the detections. Images and maps have
room for the largest sweep, base plus a half.

Values stay in range: sums of at most 36 products below 2^7 * 2^4 (int8) and of at most 36 below 2^12 * 2^8
(int16); floating programs add at most 100 products of numbers below 10.
"""

from __future__ import annotations

from pipelines.programs.evaluation.workload import FLOAT, INT8, INT16, Call, Specification, Workload, call


def _uniform(low: float, high: float) -> Specification:
    return {"kind": "uniform", "low": low, "high": high}


_BYTES = _uniform(0, 256)
_UNIT = _uniform(-1.0, 1.0)
_WEIGHTS = _uniform(-0.5, 0.5)
_INT8_DATA = {"w_*": _uniform(-16, 17), "b_*": _uniform(-20, 21), "x": _uniform(-128, 128)}
_INT16_DATA = {
    "w_*": _uniform(-128, 129),
    "b_*": _uniform(-64, 65),
    "gain_*": _uniform(128, 385),
    "slope_*": _uniform(0, 129),
    "x": _uniform(-512, 513),
}
_IMAGE = "rows columns"
_MAP = "H=ROWS W=COLUMNS"


def _on_image(operator: str, sizes: str, inputs: str, outputs: str) -> Call:
    """A call on whole images: `call` with their size macros and their rows and columns."""
    return call(operator, f"{sizes} {_MAP}", f"{inputs} {_IMAGE} {outputs}")


IMAGE_NORM_CNN = Workload(
    name="image-norm-cnn",
    source="image normalisation and a small CNN",
    element=FLOAT,
    sizes={"ROWS": 9, "COLUMNS": 9, "HALF_ROWS": 4, "HALF_COLUMNS": 4, "FILTERS": 2, "CLASSES": 5},
    scalars={"rows": 6, "columns": 6},
    calls=(
        _on_image("normalise_image", "C=3", "image mean inverse", "out=normalised"),
        _on_image("conv2d", "C=3 M=FILTERS K=3 D=1", "x=normalised weight=w_first bias=b_first", "out=first"),
        _on_image("batch_norm", "C=FILTERS", "x=first gain=gain_0 bias=b_0", "out=scaled"),
        _on_image("relu", "C=FILTERS", "x=scaled", "out=active"),
        _on_image("max_pool2d", "C=FILTERS", "x=active", "out=pooled"),
        call(
            "conv2d",
            "C=FILTERS M=FILTERS K=3 D=1 H=HALF_ROWS W=HALF_COLUMNS",
            "x=pooled weight=w_second bias=b_second rows=rows/2 columns=columns/2 out=second",
        ),
        call(
            "relu",
            "C=FILTERS H=HALF_ROWS W=HALF_COLUMNS",
            "x=second rows=rows/2 columns=columns/2 out=features",
        ),
        call(
            "classifier",
            "C=FILTERS M=CLASSES H=HALF_ROWS W=HALF_COLUMNS",
            "x=features weight=w_out bias=b_out rows=rows/2 columns=columns/2 out=logits",
        ),
    ),
    data={
        "image": _BYTES,
        "mean": _uniform(0.4, 0.5),
        "inverse": _uniform(3.5, 4.5),
        "gain_*": _uniform(0.5, 1.5),
        "w_*": _WEIGHTS,
        "b_*": _WEIGHTS,
    },
)

RESIDUAL_DEPTHWISE = Workload(
    name="residual-depthwise",
    source="a residual block and a depthwise separable convolution",
    element=INT8,
    sizes={"ROWS": 9, "COLUMNS": 9, "FILTERS": 2, "WIDE": 6},
    scalars={"rows": 6, "columns": 6, "channels": 4},
    calls=(
        _on_image("conv2d", "C=FILTERS M=FILTERS K=3 D=1", "x weight=w_0 bias=b_0", "out=first"),
        _on_image("relu", "C=FILTERS", "x=first", "out=active"),
        _on_image("conv2d", "C=FILTERS M=FILTERS K=3 D=1", "x=active weight=w_1 bias=b_1", "out=second"),
        _on_image("add", "C=FILTERS", "x=second y=x", "out=joined"),
        _on_image("depthwise_conv2d", "C=FILTERS K=3", "x=joined weight=w_2 bias=b_2", "out=deep"),
        _on_image("pointwise_conv2d", "C=FILTERS M=WIDE", "x=deep weight=w_3 bias=b_3", "channels out=y"),
    ),
    data=_INT8_DATA,
)

PYRAMID_FUSION = Workload(
    name="pyramid-fusion",
    source="spatial pyramid pooling and fusion",
    element=INT8,
    sizes={"ROWS": 12, "COLUMNS": 12, "FILTERS": 2, "FUSED": 4},
    scalars={"rows": 8, "columns": 8},
    calls=(
        *(_on_image("adaptive_pool2d", f"C=FILTERS B={bins}", "x", f"out=bins_{bins}") for bins in (1, 2, 4)),
        *(
            _on_image("resize_bins", f"C=FILTERS B={bins}", f"x=bins_{bins}", f"out=level_{bins}")
            for bins in (1, 2, 4)
        ),
        _on_image(
            "concat4",
            "C0=FILTERS C1=FILTERS C2=FILTERS C3=FILTERS",
            "x0=x x1=level_1 x2=level_2 x3=level_4",
            "out=pyramid",
        ),
        _on_image("pointwise_conv2d", "C=8 M=FUSED", "x=pyramid weight=w_0 bias=b_0", "channels=FUSED out=y"),
    ),
    data=_INT8_DATA,
)

CBAM = Workload(
    name="cbam",
    source="convolutional block attention module: channel, then spatial attention",
    element=INT16,
    sizes={"ROWS": 9, "COLUMNS": 9, "FILTERS": 4, "REDUCED": 2},
    scalars={"rows": 6, "columns": 6},
    calls=(
        _on_image("conv2d", "C=2 M=FILTERS K=3 D=1", "x weight=w_0 bias=b_0", "out=first"),
        _on_image("relu", "C=FILTERS", "x=first", "out=active"),
        _on_image("global_average_pool", "C=FILTERS", "x=active", "out=average"),
        _on_image("global_max_pool", "C=FILTERS", "x=active", "out=largest"),
        call(
            "squeeze_excite",
            "C=FILTERS R=REDUCED",
            "x=average squeeze=w_squeeze excite=w_excite out=from_average",
        ),
        call(
            "squeeze_excite",
            "C=FILTERS R=REDUCED",
            "x=largest squeeze=w_squeeze excite=w_excite out=from_largest",
        ),
        call("sigmoid_gate", "C=FILTERS", "x=from_average y=from_largest out=channel_gate"),
        _on_image("scale_channels", "C=FILTERS", "x=active gate=channel_gate", "out=refined"),
        _on_image("channel_pool", "C=FILTERS", "x=refined", "out=pooled"),
        _on_image("conv2d", "C=2 M=1 K=3 D=1", "x=pooled weight=w_spatial bias=b_spatial", "out=spatial"),
        _on_image("scale_positions", "C=FILTERS", "x=refined map=spatial", "out=attended"),
        _on_image("add", "C=FILTERS", "x=attended y=first", "out=y"),
    ),
    data=_INT16_DATA,
)

ANCHOR_ROIALIGN = Workload(
    name="anchor-roialign",
    source="anchors, the best boxes, non-maximum suppression and RoIAlign",
    element=INT8,
    sizes={"ROWS": 9, "COLUMNS": 9, "ANCHORS": 3, "BOXES": 4, "FILTERS": 4, "BINS": 3},
    scalars={"rows": 6, "columns": 6, "anchors": 2, "boxes": 3},
    calls=(
        _on_image(
            "pointwise_conv2d",
            "C=FILTERS M=ANCHORS",
            "x weight=w_score bias=b_score",
            "channels=anchors out=score",
        ),
        _on_image("decode_boxes", "N=ANCHORS", "distance anchor", "anchors out=box"),
        _on_image("select_top", "N=ANCHORS B=BOXES", "score", "anchors boxes out=order"),
        call("suppress", f"N=ANCHORS B=BOXES {_MAP}", "box order boxes out=keep"),
        _on_image("roi_align", "C=FILTERS N=ANCHORS B=BOXES P=BINS", "x box order keep", "boxes out=y"),
    ),
    data={**_INT8_DATA, "distance": _uniform(10, 48), "anchor": _uniform(32, 97)},
)

GAN_SUPERRESOLUTION = Workload(
    name="gan-superresolution",
    source="generator of SRGAN: a residual block, pixel shuffle, tanh",
    element=INT16,
    sizes={"ROWS": 6, "COLUMNS": 6, "TALL": 12, "WIDE": 12, "FILTERS": 2, "SHUFFLED": 4},
    scalars={"rows": 4, "columns": 4},
    calls=(
        _on_image("conv2d", "C=1 M=FILTERS K=3 D=1", "x weight=w_0 bias=b_0", "out=t0"),
        _on_image("prelu", "C=FILTERS", "x=t0 slope=slope_0", "out=t1"),
        _on_image("conv2d", "C=FILTERS M=FILTERS K=3 D=1", "x=t1 weight=w_1 bias=b_1", "out=t2"),
        _on_image("batch_norm", "C=FILTERS", "x=t2 gain=gain_0 bias=b_2", "out=t3"),
        _on_image("prelu", "C=FILTERS", "x=t3 slope=slope_1", "out=t4"),
        _on_image("conv2d", "C=FILTERS M=FILTERS K=3 D=1", "x=t4 weight=w_2 bias=b_3", "out=t5"),
        _on_image("batch_norm", "C=FILTERS", "x=t5 gain=gain_1 bias=b_4", "out=t6"),
        _on_image("add", "C=FILTERS", "x=t6 y=t1", "out=t7"),
        _on_image("conv2d", "C=FILTERS M=SHUFFLED K=3 D=1", "x=t7 weight=w_3 bias=b_5", "out=t8"),
        _on_image("pixel_shuffle", "C=1", "x=t8", "out=t9"),
        call("prelu", "C=1 H=TALL W=WIDE", "x=t9 slope=slope_2 rows=rows*2 columns=columns*2 out=t10"),
        call(
            "conv2d",
            "C=1 M=1 K=3 D=1 H=TALL W=WIDE",
            "x=t10 weight=w_4 bias=b_6 rows=rows*2 columns=columns*2 out=t11",
        ),
        call("tanh_image", "C=1 H=TALL W=WIDE", "x=t11 rows=rows*2 columns=columns*2 out=image"),
    ),
    data=_INT16_DATA,
)

DENSE_SKIP = Workload(
    name="dense-skip",
    source="a dense block with its transition, and a skip connection around it",
    element=FLOAT,
    sizes={
        "ROWS": 6,
        "COLUMNS": 6,
        "HALF_ROWS": 3,
        "HALF_COLUMNS": 3,
        "GROWTH": 2,
        "TWICE": 4,
        "THRICE": 6,
    },
    scalars={"rows": 4, "columns": 4},
    calls=(
        _on_image("conv2d", "C=GROWTH M=GROWTH K=3 D=1", "x weight=w_0 bias=b_0", "out=first"),
        _on_image("concat2", "C0=GROWTH C1=GROWTH", "x0=x x1=first", "out=two"),
        _on_image("conv2d", "C=TWICE M=GROWTH K=3 D=1", "x=two weight=w_1 bias=b_1", "out=second"),
        _on_image("concat2", "C0=TWICE C1=GROWTH", "x0=two x1=second", "out=three"),
        _on_image(
            "pointwise_conv2d",
            "C=THRICE M=GROWTH",
            "x=three weight=w_2 bias=b_2",
            "channels=GROWTH out=narrow",
        ),
        _on_image("average_pool2d", "C=GROWTH", "x=narrow", "out=small"),
        call(
            "upsample2d",
            "C=GROWTH H=HALF_ROWS W=HALF_COLUMNS",
            "x=small rows=rows/2 columns=columns/2 out=large",
        ),
        call("add", f"C=GROWTH {_MAP}", "x=large y=x rows=rows/2*2 columns=columns/2*2 out=y"),
    ),
    data={"x": _UNIT, "w_*": _WEIGHTS, "b_*": _WEIGHTS},
)

DILATED_AGGREGATION = Workload(
    name="dilated-aggregation",
    source="multi-scale context aggregation by dilated convolutions",
    element=FLOAT,
    sizes={"ROWS": 6, "COLUMNS": 6, "FILTERS": 2, "CLASSES": 3},
    scalars={"rows": 4, "columns": 4},
    calls=(
        _on_image("conv2d", "C=FILTERS M=FILTERS K=3 D=1", "x weight=w_0 bias=b_0", "out=near"),
        _on_image("conv2d", "C=FILTERS M=FILTERS K=3 D=2", "x=near weight=w_1 bias=b_1", "out=middle"),
        _on_image("conv2d", "C=FILTERS M=FILTERS K=3 D=3", "x=middle weight=w_2 bias=b_2", "out=far"),
        _on_image("aggregate", "C=FILTERS", "near middle far weight=w_3", "out=context"),
        _on_image(
            "pointwise_conv2d",
            "C=FILTERS M=CLASSES",
            "x=context weight=w_4 bias=b_4",
            "channels=CLASSES out=score",
        ),
        _on_image("argmax_map", "C=CLASSES", "x=score", "out=label"),
    ),
    data={"x": _UNIT, "w_*": _WEIGHTS, "b_*": _WEIGHTS},
)

BEVFORMER = Workload(
    name="bevformer",
    source="a BEVFormer layer: deformable spatial cross-attention over the views that a query hits",
    element=INT8,
    sizes={
        "QUERIES": 6,
        "POINTS": 3,
        "OFFSETS": 6,
        "HIDDEN": 8,
        "INNER": 12,
        "VIEWS": 2,
        "ROWS": 4,
        "COLUMNS": 5,
    },
    scalars={"queries": 4, "points": 2},
    calls=(
        call(
            "linear",
            "N=QUERIES K=HIDDEN M=OFFSETS",
            "x=query weight=w_offset bias=b_offset tokens=queries out=offset",
        ),
        call(
            "point_weights", "N=QUERIES K=HIDDEN P=POINTS", "x=query weight=w_share queries points out=share"
        ),
        call(
            "sample_views",
            "N=QUERIES P=POINTS K=HIDDEN V=VIEWS H=ROWS W=COLUMNS",
            "value=camera place offset share queries points out=sampled",
        ),
        call(
            "add_norm",
            "N=QUERIES K=HIDDEN",
            "x=sampled rest=query gain=gain_0 bias=b_0 tokens=queries out=normal",
        ),
        call(
            "feed_forward", "N=QUERIES K=HIDDEN F=INNER", "x=normal inner=w_inner outer=w_outer queries out=y"
        ),
    ),
    data={
        "query": _uniform(-64, 65),
        "camera": _uniform(-128, 128),
        "place": _uniform(-24, 96),
        "gain_*": _uniform(16, 49),
        **_INT8_DATA,
    },
)

VISION = (
    IMAGE_NORM_CNN,
    RESIDUAL_DEPTHWISE,
    PYRAMID_FUSION,
    CBAM,
    ANCHOR_ROIALIGN,
    GAN_SUPERRESOLUTION,
    DENSE_SKIP,
    DILATED_AGGREGATION,
    BEVFORMER,
)
