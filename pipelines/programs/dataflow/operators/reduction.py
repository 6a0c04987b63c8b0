"""Reductions of axes, pooling included."""

from __future__ import annotations

from math import sqrt

from pipelines.programs.dataflow.builder import Bench, Built, Tensor
from pipelines.programs.dataflow.options import ZERO, Range, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, Branch, loop, nest, statement


def _places(size: int, window: int, stride: int) -> int:
    places = (size - window) // stride + 1
    if places < 1:
        raise Unsuitable("a window must fit once at least")
    return places


def _step(bench: Bench) -> tuple[int, int]:
    window = bench.random.choice((2, 2, 3))
    stride = bench.random.choice((1, window))
    bench.parameter("window", window)
    bench.parameter("stride", stride)
    return window, stride


def _at(variable: str, stride: int, tap: str) -> str:
    return f"{variable} + {tap}" if stride == 1 else f"{variable} * {stride} + {tap}"


def mean_of(bench: Bench, count: int) -> tuple[str, Range]:
    """The factor text of a mean of so many values, and how it scales a range."""
    if bench.floating:
        return f" * {1.0 / count!r}f", Range(1 / count, 1 / count)
    return f" / {count}", Range(1 / count, 1 / count)


def max_pool2d(bench: Bench) -> Built:
    """out[C][H][W] = maximum of a window."""
    x = bench.input("x", rank=3, accept=lambda shape: min(shape[1:]) >= 3)
    window, stride = _step(bench)
    channels, height, width = x.shape
    c, k = bench.size("C", channels), bench.size("WINDOW", window)
    oh = bench.size("OH", _places(height, window, stride))
    ow = bench.size("OW", _places(width, window, stride))
    place = f"x[c][{_at('h', stride, 'r')}][{_at('w', stride, 's')}]"
    first = f"x[c][{_at('h', stride, '0')}][{_at('w', stride, '0')}]".replace(" + 0]", "]")
    axes = [("c", c), ("h", oh), ("w", ow)]
    if bench.flip():
        body = nest(
            axes,
            "parallel",
            statement(f"{bench.sum_type} best = {first}"),
            *nest([("r", k), ("s", k)], "reduction", _raise("best", place)),
            statement("out[c][h][w] = best"),
        )
    else:
        body = nest(axes, "parallel", statement(f"out[c][h][w] = {first}"))
        taps = nest([("r", k), ("s", k)], "reduction", _raise("out[c][h][w]", place))
        body += nest(axes, "parallel", *taps)
    return Built(body=body, shape=(channels, oh.size, ow.size), values=x.values)


def _raise(name: str, text: str) -> Branch:
    return Branch(condition=f"{text} > {name}", body=(statement(f"{name} = {text}"),))


def average_pool2d(bench: Bench) -> Built:
    """out[C][H][W] = mean of a window, towards zero in integers."""
    x = bench.input("x", rank=3, accept=lambda shape: min(shape[1:]) >= 3)
    window, stride = _step(bench)
    channels, height, width = x.shape
    c, k = bench.size("C", channels), bench.size("WINDOW", window)
    oh = bench.size("OH", _places(height, window, stride))
    ow = bench.size("OW", _places(width, window, stride))
    factor, scale = mean_of(bench, window * window)
    nodes, values = bench.accumulate(
        outer=[("c", c), ("h", oh), ("w", ow)],
        inner=[("r", k), ("s", k)],
        term=f"x[c][{_at('h', stride, 'r')}][{_at('w', stride, 's')}]",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return Built(body=nodes, shape=(channels, oh.size, ow.size), values=values)


def max_pool1d(bench: Bench) -> Built:
    """out[C][W] = maximum of a window along the rows."""
    x = bench.input("x", rank=2, accept=lambda shape: shape[1] >= 4)
    window, stride = _step(bench)
    c, k = bench.size("C", x.shape[0]), bench.size("WINDOW", window)
    ow = bench.size("OW", _places(x.shape[1], window, stride))
    first = f"x[c][{'w' if stride == 1 else f'w * {stride}'}]"
    body = nest(
        [("c", c), ("w", ow)],
        "parallel",
        statement(f"out[c][w] = {first}"),
        *nest([("s", k)], "reduction", _raise("out[c][w]", f"x[c][{_at('w', stride, 's')}]")),
    )
    return Built(body=body, shape=(c.size, ow.size), values=x.values)


def global_average_pool(bench: Bench) -> Built:
    """out[C] = mean of an image."""
    x = bench.input("x", rank=3)
    c, h, w = bench.sizes("C H W", x.shape)
    factor, scale = mean_of(bench, h.size * w.size)
    nodes, values = bench.accumulate(
        outer=[("c", c)],
        inner=[("h", h), ("w", w)],
        term="x[c][h][w]",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return Built(body=nodes, shape=(c.size,), values=values)


def pyramid_pool(bench: Bench) -> Built:
    """Means over a grid of bins of each channel: one level of spatial pyramid pooling."""
    bins = bench.random.choice((2, 2, 3))
    x = bench.input("x", rank=3, accept=lambda shape: min(shape[1:]) >= bins)
    channels, height, width = x.shape
    bench.parameter("bins", bins)
    rows, columns = height // bins, width // bins
    c, b = bench.size("C", channels), bench.size("BINS", bins)
    r, s = bench.size("ROWS", rows), bench.size("COLUMNS", columns)
    factor, scale = mean_of(bench, rows * columns)
    nodes, values = bench.accumulate(
        outer=[("c", c), ("h", b), ("w", b)],
        inner=[("r", r), ("s", s)],
        term=f"x[c][h * {r.text} + r][w * {s.text} + s]",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return Built(body=nodes, shape=(channels, bins, bins), values=values)


def _axes(bench: Bench, x: Tensor) -> tuple[list[Axis], list[Axis], str]:
    """Kept and reduced loops, and the subscripts of x."""
    axes: list[Axis] = [
        (variable, bench.size(role, size))
        for variable, role, size in zip("ijk", ("D0", "D1", "D2"), x.shape, strict=False)
    ]
    place = "".join(f"[{variable}]" for variable, _ in axes)
    axis = bench.random.randrange(len(axes))
    bench.parameter("axis", axis)
    return axes[:axis] + axes[axis + 1 :], [axes[axis]], place


def _shape(kept: list[Axis]) -> tuple[int, ...]:
    return tuple(extent.size for _, extent in kept)


def _run(bench: Bench, reduced: list[Axis]) -> list[Axis]:
    variable, extent = reduced[0]
    return [(variable, bench.runtime(extent, "length"))]


def reduce_sum(bench: Bench) -> Built:
    """Sum along an axis."""
    x = bench.input("x", rank=(2, 3))
    kept, reduced, place = _axes(bench, x)
    nodes, values = bench.accumulate(
        outer=kept, inner=_run(bench, reduced), term=f"x{place}", term_values=x.values
    )
    return Built(body=nodes, shape=_shape(kept), values=values)


def reduce_mean(bench: Bench) -> Built:
    """Mean along an axis, towards zero in integers."""
    x = bench.input("x", rank=(2, 3))
    kept, reduced, place = _axes(bench, x)
    factor, scale = mean_of(bench, reduced[0][1].size)
    nodes, values = bench.accumulate(
        outer=kept,
        inner=reduced,
        term=f"x{place}",
        term_values=x.values,
        after=lambda text, total: (text + factor, total * scale),
    )
    return Built(body=nodes, shape=_shape(kept), values=values)


def reduce_squares(bench: Bench) -> Built:
    """Sum of squares along an axis; its root in floating point and, truncated, in integers: the L2 norm."""
    x = bench.input("x", rank=(2, 3))
    kept, reduced, place = _axes(bench, x)
    rooted = bench.flip()
    bench.parameter("root", rooted)
    squares = Range(0, x.values.magnitude**2)

    def root(text: str, total: Range) -> tuple[str, Range]:
        if not rooted:
            return text, total
        if not bench.floating:
            bench.use("isqrt")
        return f"{'sqrtf' if bench.floating else 'isqrt'}({text})", Range(0, sqrt(total.high))

    nodes, values = bench.accumulate(
        outer=kept,
        inner=_run(bench, reduced),
        term=f"x{place} * x{place}",
        term_values=squares,
        after=root,
    )
    return Built(body=nodes, shape=_shape(kept), values=values)


def reduce_absolute(bench: Bench) -> Built:
    """Sum of magnitudes along an axis: the L1 norm."""
    x = bench.input("x", rank=(2, 3))
    kept, reduced, place = _axes(bench, x)
    nodes, values = bench.accumulate(
        outer=kept,
        inner=reduced,
        term=f"(x{place} < 0 ? -x{place} : x{place})",
        term_values=Range(0, x.values.magnitude),
    )
    return Built(body=nodes, shape=_shape(kept), values=values)


def _extreme(bench: Bench, sign: str) -> Built:
    x = bench.input("x", rank=(2, 3))
    kept, reduced, place = _axes(bench, x)
    variable, _ = reduced[0]
    out = "out" + "".join(f"[{name}]" for name, _ in kept)
    first = place.replace(f"[{variable}]", "[0]")
    pick = Branch(condition=f"x{place} {sign} {out}", body=(statement(f"{out} = x{place}"),))
    run = _run(bench, reduced)
    begin = statement(f"{out} = x{first}")
    if bench.flip():
        body = nest(kept, "parallel", begin, *nest(run, "reduction", pick))
    else:
        body = nest(kept, "parallel", begin) + nest(kept, "parallel", *nest(run, "reduction", pick))
    return Built(body=body, shape=_shape(kept), values=x.values)


def reduce_max(bench: Bench) -> Built:
    """Maximum along an axis."""
    return _extreme(bench, ">")


def reduce_min(bench: Bench) -> Built:
    """Minimum along an axis."""
    return _extreme(bench, "<")


def argmax(bench: Bench) -> Built:
    """Index of the first maximum of every row."""
    x = bench.input("x", rank=2)
    m, n = bench.sizes("M N", x.shape)
    pick = Branch(condition="x[i][j] > x[i][best]", body=(statement("best = j"),))
    body = (
        statement("int best = 0"),
        loop("j", bench.runtime(n, "length"), "serial", pick),
        statement("out[i] = best"),
    )
    return Built(body=(loop("i", m, "parallel", *body),), shape=(m.size,), values=Range(0, n.size - 1))


def running_sum(bench: Bench) -> Built:
    """Prefix sums along the rows."""
    x = bench.input("x", rank=2)
    m, n = bench.sizes("M N", x.shape)
    values = x.values.accumulated(n.size)
    if not bench.floating:
        require_int32(values)
    text, values = bench.finish("sum", values)
    body = (
        statement(f"{bench.sum_type} sum = 0"),
        loop("j", n, "serial", statement("sum += x[i][j]"), statement(f"out[i][j] = {text}")),
    )
    return Built(body=(loop("i", m, "parallel", *body),), shape=x.shape, values=values)


def pairwise_distance(bench: Bench) -> Built:
    """out[M][N] = squared distance of every row of x to every row of y."""
    x = bench.input("x", rank=2, accept=lambda shape: shape[0] <= 10)
    points, width = x.shape
    others = bench.random.randint(2, 8)
    y = bench.weight("y", (others, width), sharing=0.5)
    m, n, d = bench.size("M", points), bench.size("N", others), bench.size("D", width)
    nodes, values = bench.accumulate(
        outer=[("i", m), ("j", n)],
        inner=[("k", d)],
        term="(x[i][k] - y[j][k]) * (x[i][k] - y[j][k])",
        term_values=Range(0, (x.values - y.values).magnitude ** 2),
    )
    return Built(body=nodes, shape=(points, others), values=values.hull(ZERO))
