"""Pooling: windows of an image or a row reduced to one value."""

from __future__ import annotations

from pipelines.programs.dataflow.bench import Bench, Built
from pipelines.programs.dataflow.tree import Branch, nest, statement
from pipelines.programs.dataflow.values import Range, Unsuitable


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
