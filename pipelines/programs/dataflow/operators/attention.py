"""Normalisation and attention: operators that scale values by statistics of their neighbours."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from pipelines.programs.dataflow.builder import Bench, Built, exponential, largest
from pipelines.programs.dataflow.options import ZERO, Range, require_int32, symmetric
from pipelines.programs.dataflow.tree import Axis, Node, loop, nest, statement

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


def attention(bench: Bench) -> Built:
    """out[N][E] = softmax(q k^T) v by heads, causal or over a run-time number of keys."""
    q = bench.input("q", rank=2, accept=lambda shape: shape[0] <= 10 and shape[1] <= 12)
    rows, width = q.shape
    heads = bench.random.choice([h for h in (1, 1, 2, 3) if width % h == 0])
    causal = heads == 1 and bench.flip(0.3)
    keys = rows if causal else bench.random.randint(3, 10)
    bench.parameter("heads", heads)
    bench.parameter("causal", causal)
    k = bench.weight("key", (keys, width), sharing=0.8)
    v = bench.weight("value", (keys, width), sharing=0.8)
    n, m = bench.size("N", rows), bench.size("KEYS", keys)
    h, d = bench.size("HEADS", heads), bench.size("D", width // heads)
    run = m if causal else bench.runtime(m, "length")
    end = replace(run, text="i + 1", runtime=True) if causal else run
    score = bench.local("score", [m])
    scaled = _score(bench, q.values * k.values, d.size)
    at = "d" if heads == 1 else f"g * {d.text} + d"
    share = "sum / total"
    text, values = bench.finish(share, v.values.hull(ZERO))
    if not bench.floating:
        require_int32((v.values * Range(0, 64)).accumulated(keys))
    total = bench.sum_type
    body: tuple[Node, ...] = (
        loop(
            "j",
            end,
            "parallel",
            statement(f"{total} dot = 0"),
            *nest([("d", d)], "reduction", statement(f"dot += q[i][{at}] * key[j][{at}]")),
            statement(f"{score}[j] = {scaled}"),
        ),
        *largest(bench, f"{score}[@]", "j", end),
        statement(f"{total} total = 0"),
        loop(
            "j",
            end,
            "reduction",
            *exponential(bench, f"{score}[j]", f"{score}[j]"),
            statement(f"total += {score}[j]"),
        ),
        loop(
            "d",
            d,
            "parallel",
            statement(f"{total} sum = 0"),
            *nest([("j", end)], "reduction", statement(f"sum += {score}[j] * value[j][{at}]")),
            statement(f"out[i][{at}] = {text}"),
        ),
    )
    # The scores are one array for all rows and heads: those loops may not leave their body, but may change
    # places.
    axes: list[Axis] = [("i", n)] if heads == 1 else [("g", h), ("i", n)]
    return Built(body=nest(axes, "parallel", *body), shape=(rows, width), values=values)


def _score(bench: Bench, values: Range, width: int) -> str:
    """A dot product scaled so that the exponential has something to tell apart."""
    if bench.floating:
        scale = float(width) ** -0.5
        return f"dot * {scale!r}f"
    total = values.accumulated(width)
    require_int32(total)
    shift = 0
    while total.magnitude / 2**shift > 256:
        shift += 1
    bench.parameter("score_shift", shift)
    return f"dot >> {shift}" if shift else "dot"


def linear_attention(bench: Bench) -> Built:
    """out = q (k^T v): attention without softmax, the small product first."""
    q = bench.input("q", rank=2, accept=lambda shape: shape[0] <= 12 and shape[1] <= 8)
    rows, width = q.shape
    k = bench.weight("key", (rows, width), sharing=0.8)
    v = bench.weight("value", (rows, width), sharing=0.8)
    n, d = bench.sizes("N D", q.shape)
    context = bench.local("context", [d, d])
    inner = (k.values * v.values).accumulated(rows)
    if not bench.floating:
        require_int32(inner)
    shift = 0
    while inner.magnitude / 2**shift > bench.element.limit:
        shift += 1
    bench.parameter("context_shift", shift)
    factor = f"{context}[d][e]"
    if shift:
        factor = f"{factor} * {2.0**-shift!r}f" if bench.floating else f"({factor} >> {shift})"
    small = Range(inner.low / 2**shift - 1, inner.high / 2**shift)
    body: tuple[Node, ...] = nest([("d", d), ("e", d)], "parallel", statement(f"{context}[d][e] = 0"))
    term = statement(f"{context}[d][e] += key[j][d] * value[j][e]")
    body += nest([("j", n)], "reduction", *nest([("d", d), ("e", d)], "parallel", term))
    nodes, values = bench.accumulate(
        outer=[("i", n), ("e", d)],
        inner=[("d", d)],
        term=f"q[i][d] * {factor}",
        term_values=q.values * small,
    )
    return Built(body=body + nodes, shape=q.shape, values=values)


def anchor_scores(bench: Bench) -> Built:
    """Best matching key of every query: out[N] = maximum over keys of q k^T."""
    q = bench.input("q", rank=2, accept=lambda shape: shape[1] <= 12)
    rows, width = q.shape
    keys = bench.random.randint(3, 8)
    bench.weight("key", (keys, width), sharing=0.8)
    n, m, d = bench.size("N", rows), bench.size("KEYS", keys), bench.size("D", width)
    values = (q.values * bench.bindings["key"].values).accumulated(width)
    if not bench.floating:
        require_int32(values)
    text, values = bench.finish("best", values)
    body: tuple[Node, ...] = (
        statement(f"{bench.sum_type} best = {bench.number(-(2**31) + 1)}"),
        loop(
            "j",
            bench.runtime(m, "keys"),
            "reduction",
            statement(f"{bench.sum_type} dot = 0"),
            *nest([("d", d)], "reduction", statement("dot += q[i][d] * key[j][d]")),
            statement("best = dot > best ? dot : best"),
        ),
        statement(f"out[i] = {text}"),
    )
    return Built(body=(loop("i", n, "parallel", *body),), shape=(rows,), values=values)
