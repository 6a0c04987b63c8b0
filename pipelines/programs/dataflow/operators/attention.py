"""Attention."""

from __future__ import annotations

from dataclasses import replace

from pipelines.programs.dataflow.bench import Bench, Built
from pipelines.programs.dataflow.pieces import exponential, largest
from pipelines.programs.dataflow.tree import Axis, Node, loop, nest, statement
from pipelines.programs.dataflow.values import ZERO, Range, require_int32


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
