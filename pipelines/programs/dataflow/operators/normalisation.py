"""Normalisations, softmax among them.

In integers a mean is truncated towards zero, a deviation is an integer root plus 1, and softmax halves every
eight units below the maximum; the results stand for parts of 32 (normalised) and of 100 (softmax).
"""

from __future__ import annotations

from math import sqrt

from pipelines.programs.dataflow.bench import Bench, Built
from pipelines.programs.dataflow.pieces import exponential, largest
from pipelines.programs.dataflow.tree import loop, nest, statement
from pipelines.programs.dataflow.values import ZERO, Range, require_int32, symmetric

UNIT = 32


def layer_norm(bench: Bench) -> Built:
    """Rows of x[M][N] less their mean over their deviation, with a gain or without."""
    x = bench.input("x", rank=2)
    m, n = bench.sizes("M N", x.shape)
    squares = (Range(0, (2 * x.values.magnitude) ** 2)).accumulated(n.size)
    if not bench.floating:
        require_int32(squares)
    gain = bench.weight("gain", (n.size,)) if bench.flip(0.4) else None
    run = bench.runtime(m, "rows")
    total = bench.sum_type
    mean, variance, scale = _statistics(bench, n.text, n.size)
    normal = "(x[i][j] - mean) * scale" if bench.floating else f"(x[i][j] - mean) * {UNIT} / scale"
    values = _normalised(bench, n.size)
    if gain:
        normal, values = f"{normal} * gain[j]", values * gain.values
    text, values = bench.finish(normal, values)
    body = (
        statement(f"{total} mean = 0"),
        *nest([("j", n)], "reduction", statement("mean += x[i][j]")),
        statement(mean),
        statement(f"{total} variance = 0"),
        *nest([("j", n)], "reduction", statement("variance += (x[i][j] - mean) * (x[i][j] - mean)")),
        statement(f"{total} scale = {scale.replace('@', variance)}"),
        *nest([("j", n)], "parallel", statement(f"out[i][j] = {text}")),
    )
    fill = bench.zero_fill([("i", m), ("j", n)]) if run.runtime else ()
    rows = loop("i", run, "parallel", *body)
    return Built(body=(*fill, rows), shape=x.shape, values=values.hull(ZERO))


def _statistics(bench: Bench, count: str, number: int) -> tuple[str, str, str]:
    if bench.floating:
        return f"mean *= {1.0 / number!r}f", f"variance * {1.0 / number!r}f", "1.0f / sqrtf(@ + 0.00001f)"
    bench.use("isqrt")
    return f"mean /= {count}", f"variance / {count}", "isqrt(@) + 1"


def _normalised(bench: Bench, count: int) -> Range:
    """|x - mean| is at most sqrt(N) deviations."""
    return symmetric(sqrt(count) + 1) if bench.floating else symmetric(UNIT * (sqrt(count) + 1))


def rms_norm(bench: Bench) -> Built:
    """Rows over the root of their mean square, times a gain."""
    x = bench.input("x", rank=2)
    m, n = bench.sizes("M N", x.shape)
    if not bench.floating:
        require_int32(Range(0, x.values.magnitude**2).accumulated(n.size))
    gain = bench.weight("gain", (n.size,))
    _, square, scale = _statistics(bench, n.text, n.size)
    scale = scale.replace("@", square.replace("variance", "square"))
    normal = "x[i][j] * scale * gain[j]" if bench.floating else f"x[i][j] * {UNIT} / scale * gain[j]"
    text, values = bench.finish(normal, _normalised(bench, n.size) * gain.values)
    body = (
        statement(f"{bench.sum_type} square = 0"),
        *nest([("j", n)], "reduction", statement("square += x[i][j] * x[i][j]")),
        statement(f"{bench.sum_type} scale = {scale}"),
        *nest([("j", n)], "parallel", statement(f"out[i][j] = {text}")),
    )
    return Built(body=(loop("i", m, "parallel", *body),), shape=x.shape, values=values)


def batch_norm(bench: Bench) -> Built:
    """(x - mean) scale + offset per channel, the statistics given."""
    x = bench.input("x", rank=(2, 3))
    channels = x.shape[0]
    mean = bench.weight("mean", (channels,), sharing=0)
    scale = bench.weight("scale", (channels,), sharing=0)
    offset = bench.weight("offset", (channels,), sharing=0)
    sizes = bench.sizes("C H W" if len(x.shape) == 3 else "C W", x.shape)
    axes = list(zip("chw" if len(x.shape) == 3 else "cw", sizes, strict=True))
    place = "".join(f"[{variable}]" for variable, _ in axes)
    values = (x.values - mean.values) * scale.values + offset.values
    text, values = bench.finish(f"(x{place} - mean[c]) * scale[c] + offset[c]", values)
    body = nest(axes, "parallel", statement(f"out{place} = {text}"))
    return Built(body=body, shape=x.shape, values=values)


def instance_norm(bench: Bench) -> Built:
    """Every channel of x[C][H][W] less its mean, over its mean absolute deviation plus one."""
    x = bench.input("x", rank=3)
    c, h, w = bench.sizes("C H W", x.shape)
    count = h.size * w.size
    total, one = bench.sum_type, bench.number(1)
    share = f"* {1.0 / count!r}f" if bench.floating else f"/ ({h.text} * {w.text})"
    away = "x[c][h][w] > mean ? x[c][h][w] - mean : mean - x[c][h][w]"
    unit = "" if bench.floating else f" * {UNIT}"
    values = symmetric(UNIT * (count + 1)) if not bench.floating else symmetric(2 * x.values.magnitude)
    text, values = bench.finish(f"(x[c][h][w] - mean){unit} / spread", values)
    body = (
        statement(f"{total} mean = 0"),
        *nest([("h", h), ("w", w)], "reduction", statement("mean += x[c][h][w]")),
        statement(f"mean = mean {share}"),
        statement(f"{total} spread = 0"),
        *nest([("h", h), ("w", w)], "reduction", statement(f"spread += {away}")),
        statement(f"spread = spread {share} + {one}"),
        *nest([("h", h), ("w", w)], "parallel", statement(f"out[c][h][w] = {text}")),
    )
    return Built(body=(loop("c", c, "parallel", *body),), shape=x.shape, values=values)


def softmax(bench: Bench) -> Built:
    """Rows of x[M][N] as shares of their exponentials."""
    x = bench.input("x", rank=2)
    m, n = bench.sizes("M N", x.shape)
    run = bench.runtime(n, "length")
    fill = bench.zero_fill([("i", m), ("j", n)]) if run.runtime else ()
    share = "out[i][j] / total" if bench.floating else "out[i][j] * 100 / total"
    body = (
        *largest(bench, "x[i][@]", "j", run),
        statement(f"{bench.sum_type} total = 0"),
        loop(
            "j",
            run,
            "reduction",
            *exponential(bench, "x[i][j]", "out[i][j]"),
            statement("total += out[i][j]"),
        ),
        *nest([("j", run)], "parallel", statement(f"out[i][j] = {share}")),
    )
    rows = loop("i", m, "parallel", *body)
    return Built(body=(*fill, rows), shape=x.shape, values=Range(0, 1 if bench.floating else 100))
