"""Convolutions and stencils."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder
from pipelines.programs.dataflow.options import ZERO, Range, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, Extent, Loop, Node, loop, nest, statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How a kernel moves along one dimension: stride between places, dilation between taps, zeros around."""

    size: int
    taps: int
    stride: int
    dilation: int
    pad: int

    @property
    def outputs(self) -> int:
        """Places of the kernel."""
        return (self.size + 2 * self.pad - self.dilation * (self.taps - 1) - 1) // self.stride + 1

    def index(self, place: str, tap: str) -> str:
        """Return the input index of a tap, as C text."""
        terms = place if self.stride == 1 else f"{place} * {self.stride}"
        if self.taps > 1:
            terms += f" + {tap}" if self.dilation == 1 else f" + {tap} * {self.dilation}"
        return f"{terms} - {self.pad}" if self.pad else terms

    def guard(self, place: str, tap: str, extent: Extent) -> str:
        """Return the condition under which a tap is inside, empty when it always is."""
        if not self.pad:
            return ""
        index = self.index(place, tap)
        return f"{index} >= 0 && {index} < {extent.text}"


def draw_window(builder: OperatorBuilder, sizes: tuple[int, ...], taps: int) -> tuple[Window, ...]:
    """Draw one way to move for all dimensions, noted in the parameters.

    Raises: Unsuitable: the kernel does not fit.
    """
    stride = builder.random.choice((1, 1, 1, 2))
    dilation = builder.random.choice((1, 1, 1, 2)) if taps > 1 else 1
    pad = builder.random.choice((0, 0, dilation * (taps // 2))) if taps > 1 else 0
    for name, value in (("taps", taps), ("stride", stride), ("dilation", dilation), ("pad", pad)):
        builder.parameter(name, value)
    windows = tuple(Window(size=size, taps=taps, stride=stride, dilation=dilation, pad=pad) for size in sizes)
    if any(w.outputs < 2 for w in windows):
        raise Unsuitable("a kernel must fit at two places at least")
    return windows


def _joined(*conditions: str) -> str | None:
    return " && ".join(c for c in conditions if c) or None


def conv1d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[O][W] = sum over C, taps of x[C][...] weight[O][C][taps]; depthwise: out[C][W]."""
    x = builder.input("x", rank=2, accept=lambda shape: shape[1] >= 5)
    channels, width = x.shape
    (window,) = draw_window(builder, (width,), builder.random.choice((2, 3, 3, 5)))
    depthwise = builder.flip(0.35)
    builder.parameter("depthwise", depthwise)
    outputs = channels if depthwise else builder.random.randint(2, 6)
    taps = window.taps
    weight = builder.weight("weight", (outputs, taps) if depthwise else (outputs, channels, taps), sharing=0)
    o, c, w, s = (
        builder.size("O", outputs),
        builder.size("C", channels),
        builder.size("W", width),
        builder.size("S", taps),
    )
    q = builder.size("OW", window.outputs)
    source = window.index("w", "s")
    inner: list[Axis] = [("s", s)] if depthwise else [("c", c), ("s", s)]
    run = builder.runtime(q, "width")
    fill = builder.zero_fill([("o", o), ("w", q)]) if run.runtime else ()
    nodes, values = builder.accumulate(
        outer=[("o", o), ("w", run)],
        inner=inner,
        term=f"x[o][{source}] * weight[o][s]" if depthwise else f"x[c][{source}] * weight[o][c][s]",
        term_values=x.values * weight.values,
        guard=_joined(window.guard("w", "s", w)),
    )
    return OperatorBody(body=fill + nodes, shape=(outputs, window.outputs), values=values.hull(ZERO))


def conv2d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[O][H][W] over x[C][H][W], or with channels last in both."""
    x = builder.input("x", rank=3, accept=lambda shape: min(shape[:2]) >= 3 or min(shape[1:]) >= 3)
    last = min(x.shape[1:]) < 3 or (min(x.shape[:2]) >= 3 and builder.flip(0.3))
    builder.parameter("channels_last", last)
    channels = x.shape[2] if last else x.shape[0]
    height, width = x.shape[:2] if last else x.shape[1:]
    rows, columns = draw_window(builder, (height, width), builder.random.choice((1, 2, 3, 3)))
    outputs, taps = builder.random.randint(2, 5), rows.taps
    weight = builder.weight("weight", (outputs, channels, taps, taps), sharing=0)
    c, o, r = builder.size("C", channels), builder.size("O", outputs), builder.size("R", taps)
    h, w = builder.size("H", height), builder.size("W", width)
    oh, ow = builder.size("OH", rows.outputs), builder.size("OW", columns.outputs)
    row, column = rows.index("h", "r"), columns.index("w", "s")
    place = f"x[{row}][{column}][c]" if last else f"x[c][{row}][{column}]"
    run = builder.runtime(oh, "height")
    outer: list[Axis] = [("h", run), ("w", ow), ("o", o)] if last else [("o", o), ("h", run), ("w", ow)]
    inner: list[Axis] = [("c", c)] if taps == 1 else [("c", c), ("r", r), ("s", r)]
    tap = "[0][0]" if taps == 1 else "[r][s]"
    first, first_values = ("0", ZERO)
    if builder.flip(0.3):
        bias = builder.weight("bias", (outputs,), sharing=0.1)
        first, first_values = "bias[o]", bias.values
    full: list[Axis] = [(name, oh if name == "h" else extent) for name, extent in outer]
    fill = builder.zero_fill(full) if run.runtime else ()
    nodes, values = builder.accumulate(
        outer=outer,
        inner=inner,
        term=f"{place} * weight[o][c]{tap}",
        term_values=x.values * weight.values,
        first=first,
        first_values=first_values,
        guard=_joined(rows.guard("h", "r", h), columns.guard("w", "s", w)),
    )
    shape = tuple(extent.size for _, extent in full)
    return OperatorBody(body=fill + nodes, shape=shape, values=values.hull(ZERO))


def depthwise_conv2d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[C][H][W], every channel with its own kernel."""
    x = builder.input("x", rank=3, accept=lambda shape: min(shape[1:]) >= 3)
    channels, height, width = x.shape
    rows, columns = draw_window(builder, (height, width), builder.random.choice((2, 3, 3)))
    taps = rows.taps
    weight = builder.weight("weight", (channels, taps, taps), sharing=0)
    c, r = builder.size("C", channels), builder.size("R", taps)
    h, w = builder.size("H", height), builder.size("W", width)
    oh, ow = builder.size("OH", rows.outputs), builder.size("OW", columns.outputs)
    nodes, values = builder.accumulate(
        outer=[("c", c), ("h", oh), ("w", ow)],
        inner=[("r", r), ("s", r)],
        term=f"x[c][{rows.index('h', 'r')}][{columns.index('w', 's')}] * weight[c][r][s]",
        term_values=x.values * weight.values,
        guard=_joined(rows.guard("h", "r", h), columns.guard("w", "s", w)),
    )
    return OperatorBody(body=nodes, shape=(channels, oh.size, ow.size), values=values)


def filter2d(builder: OperatorBuilder) -> OperatorBody:
    """Return one kernel over one image: out[H][W] from x[H][W]."""
    x = builder.input("x", rank=2, accept=lambda shape: min(shape) >= 4)
    rows, columns = draw_window(builder, x.shape, 3)
    weight = builder.weight("weight", (3, 3), sharing=0)
    h, w, r = builder.size("H", x.shape[0]), builder.size("W", x.shape[1]), builder.size("R", 3)
    oh, ow = builder.size("OH", rows.outputs), builder.size("OW", columns.outputs)
    nodes, values = builder.accumulate(
        outer=[("h", oh), ("w", ow)],
        inner=[("r", r), ("s", r)],
        term=f"x[{rows.index('h', 'r')}][{columns.index('w', 's')}] * weight[r][s]",
        term_values=x.values * weight.values,
        guard=_joined(rows.guard("h", "r", h), columns.guard("w", "s", w)),
    )
    return OperatorBody(body=nodes, shape=(oh.size, ow.size), values=values)


def transposed_conv1d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[O][W stride + taps - stride]: every input adds a kernel to the result."""
    x = builder.input("x", rank=2, accept=lambda shape: shape[1] <= 12)
    channels, width = x.shape
    taps, stride = builder.random.choice((2, 3, 4)), builder.random.choice((1, 2))
    outputs = builder.random.randint(2, 4)
    builder.parameter("taps", taps)
    builder.parameter("stride", stride)
    weight = builder.weight("weight", (channels, outputs, taps), sharing=0)
    length = (width - 1) * stride + taps
    o, c, w, s = (
        builder.size("O", outputs),
        builder.size("C", channels),
        builder.size("W", width),
        builder.size("S", taps),
    )
    q = builder.size("OW", length)
    values = (x.values * weight.values).accumulated(channels * taps)
    if not builder.floating:
        require_int32(values)
    total = builder.local("acc", [o, q]) if builder.element.narrow else "out"
    position = "w + s" if stride == 1 else f"w * {stride} + s"
    add = statement(f"{total}[o][{position}] += x[c][w] * weight[c][o][s]")
    scaled, values = builder.finish(f"{total}[o][q]", values)
    body: tuple[Node, ...] = nest([("o", o), ("q", q)], "parallel", statement(f"{total}[o][q] = 0"))
    body += nest([("o", o)], "parallel", *nest([("c", c), ("w", w), ("s", s)], "reduction", add))
    if scaled != "out[o][q]":
        body += nest([("o", o), ("q", q)], "parallel", statement(f"out[o][q] = {scaled}"))
    return OperatorBody(body=body, shape=(outputs, length), values=values)


VARIABLES = ("i", "j", "k")


def stencil1d(builder: OperatorBuilder) -> OperatorBody:
    """Return three or five points of a row."""
    x = builder.input("x", rank=1, accept=lambda shape: shape[0] >= 8)
    reach = builder.random.choice((1, 1, 2))
    offsets = [(d,) for d in range(-reach, reach + 1)]
    return _stencil(builder, x.shape, x.values, offsets, reach)


def stencil2d(builder: OperatorBuilder) -> OperatorBody:
    """Return a star of five or a square of nine points of an image."""
    x = builder.input("x", rank=2, accept=lambda shape: min(shape) >= 4)
    square = builder.flip(0.4)
    builder.parameter("square", square)
    offsets = [(d, e) for d in (-1, 0, 1) for e in (-1, 0, 1) if square or abs(d) + abs(e) <= 1]
    return _stencil(builder, x.shape, x.values, offsets, 1)


def stencil3d(builder: OperatorBuilder) -> OperatorBody:
    """Return a star of seven points of a volume."""
    x = builder.input("x", rank=3, accept=lambda shape: min(shape) >= 3)
    offsets = [(0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)]
    return _stencil(builder, x.shape, x.values, offsets, 1)


def _stencil(
    builder: OperatorBuilder,
    shape: tuple[int, ...],
    values: Range,
    offsets: list[tuple[int, ...]],
    reach: int,
) -> OperatorBody:
    sizes = builder.sizes(" ".join(f"N{d}" for d in range(len(shape))), shape)
    axes: list[Axis] = list(zip(VARIABLES, sizes, strict=False))
    place = "".join(f"[{variable}]" for variable, _ in axes)
    builder.parameter("reach", reach)
    steps = builder.random.choice((1, 1, 4, 6))
    if steps > 1 and not builder.has_room(_count(shape)):
        steps = 1
    builder.parameter("steps", steps)
    rule = _rule(builder, offsets)
    body: tuple[Node, ...] = nest(axes, "parallel", statement(f"out{place} = x{place}"))
    if steps == 1:
        body += _interior(axes, reach, statement(f"out{place} = {rule.replace('@', 'x')}"))
        return OperatorBody(body=body, shape=shape, values=values.hull(Range(0, 0)))
    last = builder.local("last", sizes)
    turn = (
        *nest(axes, "parallel", statement(f"{last}{place} = out{place}")),
        *_interior(axes, reach, statement(f"out{place} = {rule.replace('@', last)}")),
    )
    run = builder.runtime(builder.size("STEPS", steps), "steps")
    body += (loop("t", run, "serial", *turn),)
    return OperatorBody(body=body, shape=shape, values=values.hull(Range(0, 0)))


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _rule(builder: OperatorBuilder, offsets: list[tuple[int, ...]]) -> str:
    """Return the new value from the old array @: a mean, or weights that add up to a power of two."""
    points = ["@" + "".join(_at(v, d) for v, d in zip("ijk", offset, strict=False)) for offset in offsets]
    if builder.flip():
        builder.parameter("rule", "mean")
        total = " + ".join(points)
        if builder.floating:
            return f"({total}) * {1.0 / len(points)!r}f"
        return f"({total}) / {len(points)}"
    builder.parameter("rule", "weights")
    power = 4 if len(points) > 4 else 3
    middle = 2**power - (len(points) - 1)
    terms = [
        f"{builder.number(middle)} * {point}" if not any(offset) else point
        for point, offset in zip(points, offsets, strict=True)
    ]
    total = " + ".join(terms)
    return f"({total}) * {2.0**-power!r}f" if builder.floating else f"({total}) >> {power}"


def _at(variable: str, offset: int) -> str:
    if offset == 0:
        return f"[{variable}]"
    return f"[{variable} {'+' if offset > 0 else '-'} {abs(offset)}]"


def _interior(axes: list[Axis], reach: int, *body: Node) -> tuple[Node, ...]:
    for variable, extent in reversed(axes):
        body = (_inner_loop(variable, extent, reach, body),)
    return body


def _inner_loop(variable: str, extent: Extent, reach: int, body: tuple[Node, ...]) -> Loop:
    inner = loop(variable, extent, "parallel", *body)
    stop = str(extent.size - reach) if extent.text.isdigit() else f"{extent.text} - {reach}"
    return replace(inner, start=str(reach), stop=stop, trips=extent.size - 2 * reach)
