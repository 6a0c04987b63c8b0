"""Stencils over one to three dimensions."""

from __future__ import annotations

from dataclasses import replace

from pipelines.programs.dataflow.bench import Bench, Built
from pipelines.programs.dataflow.tree import Axis, Extent, Loop, Node, loop, nest, statement
from pipelines.programs.dataflow.values import Range

VARIABLES = ("i", "j", "k")


def stencil1d(bench: Bench) -> Built:
    """Three or five points of a row."""
    x = bench.input("x", rank=1, accept=lambda shape: shape[0] >= 8)
    reach = bench.random.choice((1, 1, 2))
    offsets = [(d,) for d in range(-reach, reach + 1)]
    return _stencil(bench, x.shape, x.values, offsets, reach)


def stencil2d(bench: Bench) -> Built:
    """A star of five or a square of nine points of an image."""
    x = bench.input("x", rank=2, accept=lambda shape: min(shape) >= 4)
    square = bench.flip(0.4)
    bench.parameter("square", square)
    offsets = [(d, e) for d in (-1, 0, 1) for e in (-1, 0, 1) if square or abs(d) + abs(e) <= 1]
    return _stencil(bench, x.shape, x.values, offsets, 1)


def stencil3d(bench: Bench) -> Built:
    """A star of seven points of a volume."""
    x = bench.input("x", rank=3, accept=lambda shape: min(shape) >= 3)
    offsets = [(0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)]
    return _stencil(bench, x.shape, x.values, offsets, 1)


def _stencil(
    bench: Bench,
    shape: tuple[int, ...],
    values: Range,
    offsets: list[tuple[int, ...]],
    reach: int,
) -> Built:
    sizes = bench.sizes(" ".join(f"N{d}" for d in range(len(shape))), shape)
    axes: list[Axis] = list(zip(VARIABLES, sizes, strict=False))
    place = "".join(f"[{variable}]" for variable, _ in axes)
    bench.parameter("reach", reach)
    steps = bench.random.choice((1, 1, 4, 6))
    if steps > 1 and not bench.has_room(_count(shape)):
        steps = 1
    bench.parameter("steps", steps)
    rule = _rule(bench, offsets)
    body: tuple[Node, ...] = nest(axes, "parallel", statement(f"out{place} = x{place}"))
    if steps == 1:
        body += _interior(axes, reach, statement(f"out{place} = {rule.replace('@', 'x')}"))
        return Built(body=body, shape=shape, values=values.hull(Range(0, 0)))
    last = bench.local("last", sizes)
    turn = (
        *nest(axes, "parallel", statement(f"{last}{place} = out{place}")),
        *_interior(axes, reach, statement(f"out{place} = {rule.replace('@', last)}")),
    )
    run = bench.runtime(bench.size("STEPS", steps), "steps")
    body += (loop("t", run, "serial", *turn),)
    return Built(body=body, shape=shape, values=values.hull(Range(0, 0)))


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _rule(bench: Bench, offsets: list[tuple[int, ...]]) -> str:
    """The new value from the old array @: a mean, or weights that add up to a power of two."""
    points = ["@" + "".join(_at(v, d) for v, d in zip("ijk", offset, strict=False)) for offset in offsets]
    if bench.flip():
        bench.parameter("rule", "mean")
        total = " + ".join(points)
        if bench.floating:
            return f"({total}) * {1.0 / len(points)!r}f"
        return f"({total}) / {len(points)}"
    bench.parameter("rule", "weights")
    power = 4 if len(points) > 4 else 3
    middle = 2**power - (len(points) - 1)
    terms = [
        f"{bench.number(middle)} * {point}" if not any(offset) else point
        for point, offset in zip(points, offsets, strict=True)
    ]
    total = " + ".join(terms)
    return f"({total}) * {2.0**-power!r}f" if bench.floating else f"({total}) >> {power}"


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
