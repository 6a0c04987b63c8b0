"""Normalisation and attention: operators that scale values by statistics of their neighbours."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder, exponential, largest
from pipelines.programs.dataflow.options import ZERO, Range, require_int32, symmetric
from pipelines.programs.dataflow.tree import Axis, Node, loop, nest, statement

UNIT = 32


def layer_norm(builder: OperatorBuilder) -> OperatorBody:
    """Return the rows of x[M][N] less their mean over their deviation, with a gain or without."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    squares = (Range(0, (2 * x.values.magnitude) ** 2)).accumulated(n.size)
    if not builder.floating:
        require_int32(squares)
    gain = builder.weight("gain", (n.size,)) if builder.flip(0.4) else None
    run = builder.runtime(m, "rows")
    total = builder.sum_type
    mean, variance, scale = _statistics(builder, n.text, n.size)
    normal = "(x[i][j] - mean) * scale" if builder.floating else f"(x[i][j] - mean) * {UNIT} / scale"
    values = _normalised(builder, n.size)
    if gain:
        normal, values = f"{normal} * gain[j]", values * gain.values
    text, values = builder.finish(normal, values)
    body = (
        statement(f"{total} mean = 0"),
        *nest([("j", n)], "reduction", statement("mean += x[i][j]")),
        statement(mean),
        statement(f"{total} variance = 0"),
        *nest([("j", n)], "reduction", statement("variance += (x[i][j] - mean) * (x[i][j] - mean)")),
        statement(f"{total} scale = {scale.replace('@', variance)}"),
        *nest([("j", n)], "parallel", statement(f"out[i][j] = {text}")),
    )
    fill = builder.zero_fill([("i", m), ("j", n)]) if run.runtime else ()
    rows = loop("i", run, "parallel", *body)
    return OperatorBody(body=(*fill, rows), shape=x.shape, values=values.hull(ZERO))


def _statistics(builder: OperatorBuilder, count: str, number: int) -> tuple[str, str, str]:
    if builder.floating:
        return f"mean *= {1.0 / number!r}f", f"variance * {1.0 / number!r}f", "1.0f / sqrtf(@ + 0.00001f)"
    builder.use("isqrt")
    return f"mean /= {count}", f"variance / {count}", "isqrt(@) + 1"


def _normalised(builder: OperatorBuilder, count: int) -> Range:
    """Return |x - mean| is at most sqrt(N) deviations."""
    return symmetric(sqrt(count) + 1) if builder.floating else symmetric(UNIT * (sqrt(count) + 1))


def rms_norm(builder: OperatorBuilder) -> OperatorBody:
    """Return the rows over the root of their mean square, times a gain."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    if not builder.floating:
        require_int32(Range(0, x.values.magnitude**2).accumulated(n.size))
    gain = builder.weight("gain", (n.size,))
    _, square, scale = _statistics(builder, n.text, n.size)
    scale = scale.replace("@", square.replace("variance", "square"))
    normal = "x[i][j] * scale * gain[j]" if builder.floating else f"x[i][j] * {UNIT} / scale * gain[j]"
    text, values = builder.finish(normal, _normalised(builder, n.size) * gain.values)
    body = (
        statement(f"{builder.sum_type} square = 0"),
        *nest([("j", n)], "reduction", statement("square += x[i][j] * x[i][j]")),
        statement(f"{builder.sum_type} scale = {scale}"),
        *nest([("j", n)], "parallel", statement(f"out[i][j] = {text}")),
    )
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=x.shape, values=values)


def batch_norm(builder: OperatorBuilder) -> OperatorBody:
    """Return (x - mean) scale + offset per channel, the statistics given."""
    x = builder.input("x", rank=(2, 3))
    channels = x.shape[0]
    mean = builder.weight("mean", (channels,), sharing=0)
    scale = builder.weight("scale", (channels,), sharing=0)
    offset = builder.weight("offset", (channels,), sharing=0)
    sizes = builder.sizes("C H W" if len(x.shape) == 3 else "C W", x.shape)
    axes = list(zip("chw" if len(x.shape) == 3 else "cw", sizes, strict=True))
    place = "".join(f"[{variable}]" for variable, _ in axes)
    values = (x.values - mean.values) * scale.values + offset.values
    text, values = builder.finish(f"(x{place} - mean[c]) * scale[c] + offset[c]", values)
    body = nest(axes, "parallel", statement(f"out{place} = {text}"))
    return OperatorBody(body=body, shape=x.shape, values=values)


def instance_norm(builder: OperatorBuilder) -> OperatorBody:
    """Return every channel of x[C][H][W] less its mean, over its mean absolute deviation plus one."""
    x = builder.input("x", rank=3)
    c, h, w = builder.sizes("C H W", x.shape)
    count = h.size * w.size
    total, one = builder.sum_type, builder.number(1)
    share = f"* {1.0 / count!r}f" if builder.floating else f"/ ({h.text} * {w.text})"
    away = "x[c][h][w] > mean ? x[c][h][w] - mean : mean - x[c][h][w]"
    unit = "" if builder.floating else f" * {UNIT}"
    values = symmetric(UNIT * (count + 1)) if not builder.floating else symmetric(2 * x.values.magnitude)
    text, values = builder.finish(f"(x[c][h][w] - mean){unit} / spread", values)
    body = (
        statement(f"{total} mean = 0"),
        *nest([("h", h), ("w", w)], "reduction", statement("mean += x[c][h][w]")),
        statement(f"mean = mean {share}"),
        statement(f"{total} spread = 0"),
        *nest([("h", h), ("w", w)], "reduction", statement(f"spread += {away}")),
        statement(f"spread = spread {share} + {one}"),
        *nest([("h", h), ("w", w)], "parallel", statement(f"out[c][h][w] = {text}")),
    )
    return OperatorBody(body=(loop("c", c, "parallel", *body),), shape=x.shape, values=values)


def softmax(builder: OperatorBuilder) -> OperatorBody:
    """Return the rows of x[M][N] as shares of their exponentials."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    run = builder.runtime(n, "length")
    fill = builder.zero_fill([("i", m), ("j", n)]) if run.runtime else ()
    share = "out[i][j] / total" if builder.floating else "out[i][j] * 100 / total"
    body = (
        *largest(builder, "x[i][@]", "j", run),
        statement(f"{builder.sum_type} total = 0"),
        loop(
            "j",
            run,
            "reduction",
            *exponential(builder, "x[i][j]", "out[i][j]"),
            statement("total += out[i][j]"),
        ),
        *nest([("j", run)], "parallel", statement(f"out[i][j] = {share}")),
    )
    rows = loop("i", m, "parallel", *body)
    return OperatorBody(body=(*fill, rows), shape=x.shape, values=Range(0, 1 if builder.floating else 100))


def attention(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[N][E] = softmax(q k^T) v by heads, causal or over a run-time number of keys."""
    q = builder.input("q", rank=2, accept=lambda shape: shape[0] <= 10 and shape[1] <= 12)
    rows, width = q.shape
    heads = builder.random.choice([h for h in (1, 1, 2, 3) if width % h == 0])
    causal = heads == 1 and builder.flip(0.3)
    keys = rows if causal else builder.random.randint(3, 10)
    builder.parameter("heads", heads)
    builder.parameter("causal", causal)
    k = builder.weight("key", (keys, width), sharing=0.8)
    v = builder.weight("value", (keys, width), sharing=0.8)
    n, m = builder.size("N", rows), builder.size("KEYS", keys)
    h, d = builder.size("HEADS", heads), builder.size("D", width // heads)
    run = m if causal else builder.runtime(m, "length")
    end = replace(run, text="i + 1", runtime=True) if causal else run
    score = builder.local("score", [m])
    scaled = _score(builder, q.values * k.values, d.size)
    at = "d" if heads == 1 else f"g * {d.text} + d"
    share = "sum / total"
    text, values = builder.finish(share, v.values.hull(ZERO))
    if not builder.floating:
        require_int32((v.values * Range(0, 64)).accumulated(keys))
    total = builder.sum_type
    body: tuple[Node, ...] = (
        loop(
            "j",
            end,
            "parallel",
            statement(f"{total} dot = 0"),
            *nest([("d", d)], "reduction", statement(f"dot += q[i][{at}] * key[j][{at}]")),
            statement(f"{score}[j] = {scaled}"),
        ),
        *largest(builder, f"{score}[@]", "j", end),
        statement(f"{total} total = 0"),
        loop(
            "j",
            end,
            "reduction",
            *exponential(builder, f"{score}[j]", f"{score}[j]"),
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
    # The scores are one array for all rows and heads: those loops stay around the body, but may be
    # permuted.
    axes: list[Axis] = [("i", n)] if heads == 1 else [("g", h), ("i", n)]
    return OperatorBody(body=nest(axes, "parallel", *body), shape=(rows, width), values=values)


def _score(builder: OperatorBuilder, values: Range, width: int) -> str:
    """Return a dot product scaled to the sensitive range of the exponential."""
    if builder.floating:
        scale = float(width) ** -0.5
        return f"dot * {scale!r}f"
    total = values.accumulated(width)
    require_int32(total)
    shift = 0
    while total.magnitude / 2**shift > 256:
        shift += 1
    builder.parameter("score_shift", shift)
    return f"dot >> {shift}" if shift else "dot"


def linear_attention(builder: OperatorBuilder) -> OperatorBody:
    """Compute out = q (k^T v): attention without softmax, the small product first."""
    q = builder.input("q", rank=2, accept=lambda shape: shape[0] <= 12 and shape[1] <= 8)
    rows, width = q.shape
    k = builder.weight("key", (rows, width), sharing=0.8)
    v = builder.weight("value", (rows, width), sharing=0.8)
    n, d = builder.sizes("N D", q.shape)
    context = builder.local("context", [d, d])
    inner = (k.values * v.values).accumulated(rows)
    if not builder.floating:
        require_int32(inner)
    shift = 0
    while inner.magnitude / 2**shift > builder.element.limit:
        shift += 1
    builder.parameter("context_shift", shift)
    factor = f"{context}[d][e]"
    if shift:
        factor = f"{factor} * {2.0**-shift!r}f" if builder.floating else f"({factor} >> {shift})"
    small = Range(inner.low / 2**shift - 1, inner.high / 2**shift)
    body: tuple[Node, ...] = nest([("d", d), ("e", d)], "parallel", statement(f"{context}[d][e] = 0"))
    term = statement(f"{context}[d][e] += key[j][d] * value[j][e]")
    body += nest([("j", n)], "reduction", *nest([("d", d), ("e", d)], "parallel", term))
    nodes, values = builder.accumulate(
        outer=[("i", n), ("e", d)],
        inner=[("d", d)],
        term=f"q[i][d] * {factor}",
        term_values=q.values * small,
    )
    return OperatorBody(body=body + nodes, shape=q.shape, values=values)


def anchor_scores(builder: OperatorBuilder) -> OperatorBody:
    """Return the best matching key of every query: out[N] = maximum over keys of q k^T."""
    q = builder.input("q", rank=2, accept=lambda shape: shape[1] <= 12)
    rows, width = q.shape
    keys = builder.random.randint(3, 8)
    builder.weight("key", (keys, width), sharing=0.8)
    n, m, d = builder.size("N", rows), builder.size("KEYS", keys), builder.size("D", width)
    values = (q.values * builder.bindings["key"].values).accumulated(width)
    if not builder.floating:
        require_int32(values)
    text, values = builder.finish("best", values)
    body: tuple[Node, ...] = (
        statement(f"{builder.sum_type} best = {builder.number(-(2**31) + 1)}"),
        loop(
            "j",
            builder.runtime(m, "keys"),
            "reduction",
            statement(f"{builder.sum_type} dot = 0"),
            *nest([("d", d)], "reduction", statement("dot += q[i][d] * key[j][d]")),
            statement("best = dot > best ? dot : best"),
        ),
        statement(f"out[i] = {text}"),
    )
    return OperatorBody(body=(loop("i", n, "parallel", *body),), shape=(rows,), values=values)
