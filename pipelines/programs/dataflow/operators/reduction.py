"""Reductions of axes, pooling included."""

from __future__ import annotations

from math import sqrt

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder, Tensor
from pipelines.programs.dataflow.options import ZERO, Range, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, Branch, loop, nest, statement


def _places(size: int, window: int, stride: int) -> int:
    places = (size - window) // stride + 1
    if places < 1:
        raise Unsuitable("a window must fit once at least")
    return places


def _step(builder: OperatorBuilder) -> tuple[int, int]:
    window = builder.random.choice((2, 2, 3))
    stride = builder.random.choice((1, window))
    builder.parameter("window", window)
    builder.parameter("stride", stride)
    return window, stride


def _at(variable: str, stride: int, tap: str) -> str:
    return f"{variable} + {tap}" if stride == 1 else f"{variable} * {stride} + {tap}"


def mean_of(builder: OperatorBuilder, count: int) -> tuple[str, Range]:
    """Return the factor text of a mean of so many values, and how it scales a range."""
    if builder.floating:
        return f" * {1.0 / count!r}f", Range(1 / count, 1 / count)
    return f" / {count}", Range(1 / count, 1 / count)


def max_pool2d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[C][H][W] = maximum of a window."""
    x = builder.input("x", rank=3, accept=lambda shape: min(shape[1:]) >= 3)
    window, stride = _step(builder)
    channels, height, width = x.shape
    c, k = builder.size("C", channels), builder.size("WINDOW", window)
    oh = builder.size("OH", _places(height, window, stride))
    ow = builder.size("OW", _places(width, window, stride))
    place = f"x[c][{_at('h', stride, 'r')}][{_at('w', stride, 's')}]"
    first = f"x[c][{_at('h', stride, '0')}][{_at('w', stride, '0')}]".replace(" + 0]", "]")
    axes = [("c", c), ("h", oh), ("w", ow)]
    if builder.flip():
        body = nest(
            axes,
            "parallel",
            statement(f"{builder.sum_type} best = {first}"),
            *nest([("r", k), ("s", k)], "reduction", _raise("best", place)),
            statement("out[c][h][w] = best"),
        )
    else:
        body = nest(axes, "parallel", statement(f"out[c][h][w] = {first}"))
        taps = nest([("r", k), ("s", k)], "reduction", _raise("out[c][h][w]", place))
        body += nest(axes, "parallel", *taps)
    return OperatorBody(body=body, shape=(channels, oh.size, ow.size), values=x.values)


def _raise(name: str, text: str) -> Branch:
    return Branch(condition=f"{text} > {name}", body=(statement(f"{name} = {text}"),))


def average_pool2d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[C][H][W] = mean of a window, towards zero in integers."""
    x = builder.input("x", rank=3, accept=lambda shape: min(shape[1:]) >= 3)
    window, stride = _step(builder)
    channels, height, width = x.shape
    c, k = builder.size("C", channels), builder.size("WINDOW", window)
    oh = builder.size("OH", _places(height, window, stride))
    ow = builder.size("OW", _places(width, window, stride))
    factor, scale = mean_of(builder, window * window)
    nodes, values = builder.accumulate(
        outer=[("c", c), ("h", oh), ("w", ow)],
        inner=[("r", k), ("s", k)],
        term=f"x[c][{_at('h', stride, 'r')}][{_at('w', stride, 's')}]",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return OperatorBody(body=nodes, shape=(channels, oh.size, ow.size), values=values)


def max_pool1d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[C][W] = maximum of a window along the rows."""
    x = builder.input("x", rank=2, accept=lambda shape: shape[1] >= 4)
    window, stride = _step(builder)
    c, k = builder.size("C", x.shape[0]), builder.size("WINDOW", window)
    ow = builder.size("OW", _places(x.shape[1], window, stride))
    first = f"x[c][{'w' if stride == 1 else f'w * {stride}'}]"
    body = nest(
        [("c", c), ("w", ow)],
        "parallel",
        statement(f"out[c][w] = {first}"),
        *nest([("s", k)], "reduction", _raise("out[c][w]", f"x[c][{_at('w', stride, 's')}]")),
    )
    return OperatorBody(body=body, shape=(c.size, ow.size), values=x.values)


def global_average_pool(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[C] = mean of an image."""
    x = builder.input("x", rank=3)
    c, h, w = builder.sizes("C H W", x.shape)
    factor, scale = mean_of(builder, h.size * w.size)
    nodes, values = builder.accumulate(
        outer=[("c", c)],
        inner=[("h", h), ("w", w)],
        term="x[c][h][w]",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return OperatorBody(body=nodes, shape=(c.size,), values=values)


def pyramid_pool(builder: OperatorBuilder) -> OperatorBody:
    """Return the means over a grid of bins of each channel: one level of spatial pyramid pooling."""
    bins = builder.random.choice((2, 2, 3))
    x = builder.input("x", rank=3, accept=lambda shape: min(shape[1:]) >= bins)
    channels, height, width = x.shape
    builder.parameter("bins", bins)
    rows, columns = height // bins, width // bins
    c, b = builder.size("C", channels), builder.size("BINS", bins)
    r, s = builder.size("ROWS", rows), builder.size("COLUMNS", columns)
    factor, scale = mean_of(builder, rows * columns)
    nodes, values = builder.accumulate(
        outer=[("c", c), ("h", b), ("w", b)],
        inner=[("r", r), ("s", s)],
        term=f"x[c][h * {r.text} + r][w * {s.text} + s]",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return OperatorBody(body=nodes, shape=(channels, bins, bins), values=values)


def _axes(builder: OperatorBuilder, x: Tensor) -> tuple[list[Axis], list[Axis], str]:
    """Return the kept and reduced loops, and the subscripts of x."""
    axes: list[Axis] = [
        (variable, builder.size(role, size))
        for variable, role, size in zip("ijk", ("D0", "D1", "D2"), x.shape, strict=False)
    ]
    place = "".join(f"[{variable}]" for variable, _ in axes)
    axis = builder.random.randrange(len(axes))
    builder.parameter("axis", axis)
    return axes[:axis] + axes[axis + 1 :], [axes[axis]], place


def _shape(kept: list[Axis]) -> tuple[int, ...]:
    return tuple(extent.size for _, extent in kept)


def _run(builder: OperatorBuilder, reduced: list[Axis]) -> list[Axis]:
    variable, extent = reduced[0]
    return [(variable, builder.runtime(extent, "length"))]


def reduce_sum(builder: OperatorBuilder) -> OperatorBody:
    """Sum along an axis."""
    x = builder.input("x", rank=(2, 3))
    kept, reduced, place = _axes(builder, x)
    nodes, values = builder.accumulate(
        outer=kept, inner=_run(builder, reduced), term=f"x{place}", term_values=x.values
    )
    return OperatorBody(body=nodes, shape=_shape(kept), values=values)


def reduce_mean(builder: OperatorBuilder) -> OperatorBody:
    """Return the mean along an axis, towards zero in integers."""
    x = builder.input("x", rank=(2, 3))
    kept, reduced, place = _axes(builder, x)
    factor, scale = mean_of(builder, reduced[0][1].size)
    nodes, values = builder.accumulate(
        outer=kept,
        inner=reduced,
        term=f"x{place}",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return OperatorBody(body=nodes, shape=_shape(kept), values=values)


def reduce_squares(builder: OperatorBuilder) -> OperatorBody:
    """Sum squares along an axis; then the root (L2 norm), truncated for integers."""
    x = builder.input("x", rank=(2, 3))
    kept, reduced, place = _axes(builder, x)
    rooted = builder.flip()
    builder.parameter("root", rooted)
    squares = Range(0, x.values.magnitude**2)

    def root(text: str, total: Range) -> tuple[str, Range]:
        if not rooted:
            return text, total
        if not builder.floating:
            builder.use("isqrt")
        return f"{'sqrtf' if builder.floating else 'isqrt'}({text})", Range(0, sqrt(total.high))

    nodes, values = builder.accumulate(
        outer=kept,
        inner=_run(builder, reduced),
        term=f"x{place} * x{place}",
        term_values=squares,
        after=root,
    )
    return OperatorBody(body=nodes, shape=_shape(kept), values=values)


def reduce_absolute(builder: OperatorBuilder) -> OperatorBody:
    """Return the sum of magnitudes along an axis: the L1 norm."""
    x = builder.input("x", rank=(2, 3))
    kept, reduced, place = _axes(builder, x)
    nodes, values = builder.accumulate(
        outer=kept,
        inner=reduced,
        term=f"(x{place} < 0 ? -x{place} : x{place})",
        term_values=Range(0, x.values.magnitude),
    )
    return OperatorBody(body=nodes, shape=_shape(kept), values=values)


def _extreme(builder: OperatorBuilder, sign: str) -> OperatorBody:
    x = builder.input("x", rank=(2, 3))
    kept, reduced, place = _axes(builder, x)
    variable, _ = reduced[0]
    out = "out" + "".join(f"[{name}]" for name, _ in kept)
    first = place.replace(f"[{variable}]", "[0]")
    pick = Branch(condition=f"x{place} {sign} {out}", body=(statement(f"{out} = x{place}"),))
    run = _run(builder, reduced)
    begin = statement(f"{out} = x{first}")
    if builder.flip():
        body = nest(kept, "parallel", begin, *nest(run, "reduction", pick))
    else:
        body = nest(kept, "parallel", begin) + nest(kept, "parallel", *nest(run, "reduction", pick))
    return OperatorBody(body=body, shape=_shape(kept), values=x.values)


def reduce_max(builder: OperatorBuilder) -> OperatorBody:
    """Return the maximum along an axis."""
    return _extreme(builder, ">")


def reduce_min(builder: OperatorBuilder) -> OperatorBody:
    """Return the minimum along an axis."""
    return _extreme(builder, "<")


def argmax(builder: OperatorBuilder) -> OperatorBody:
    """Return the index of the first maximum of every row."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    pick = Branch(condition="x[i][j] > x[i][best]", body=(statement("best = j"),))
    body = (
        statement("int best = 0"),
        loop("j", builder.runtime(n, "length"), "serial", pick),
        statement("out[i] = best"),
    )
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=(m.size,), values=Range(0, n.size - 1))


def running_sum(builder: OperatorBuilder) -> OperatorBody:
    """Return the prefix sums along the rows."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    values = x.values.accumulated(n.size)
    if not builder.floating:
        require_int32(values)
    text, values = builder.finish("sum", values)
    body = (
        statement(f"{builder.sum_type} sum = 0"),
        loop("j", n, "serial", statement("sum += x[i][j]"), statement(f"out[i][j] = {text}")),
    )
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=x.shape, values=values)


def pairwise_distance(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[M][N] = squared distance of every row of x to every row of y."""
    x = builder.input("x", rank=2, accept=lambda shape: shape[0] <= 10)
    points, width = x.shape
    others = builder.random.randint(2, 8)
    y = builder.weight("y", (others, width), sharing=0.5)
    m, n, d = builder.size("M", points), builder.size("N", others), builder.size("D", width)
    nodes, values = builder.accumulate(
        outer=[("i", m), ("j", n)],
        inner=[("k", d)],
        term="(x[i][k] - y[j][k]) * (x[i][k] - y[j][k])",
        term_values=Range(0, (x.values - y.values).magnitude ** 2),
    )
    return OperatorBody(body=nodes, shape=(points, others), values=values.hull(ZERO))
