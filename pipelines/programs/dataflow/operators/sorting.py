"""Sorting rows."""

from __future__ import annotations

from pipelines.programs.dataflow.bench import Bench, Built
from pipelines.programs.dataflow.tree import Branch, Loop, Node, While, loop, nest, statement


def insertion_sort(bench: Bench) -> Built:
    """Every row in ascending order, by insertion; the rest of a row is copied when its length is a scalar."""
    x = bench.input("x", rank=2, accept=lambda shape: shape[1] <= 12)
    m, n = bench.sizes("M N", x.shape)
    run = bench.runtime(n, "length")
    copy = nest([("i", m), ("j", n)], "parallel", statement("out[i][j] = x[i][j]"))
    shift = While(
        condition="k > 0 && out[i][k - 1] > key",
        trips=max(1, n.size // 2),
        body=(statement("out[i][k] = out[i][k - 1]"), statement("k--")),
    )
    insert = Loop(
        variable="j",
        start="1",
        stop=run.text,
        kind="serial",
        trips=run.size - 1,
        exact=False,
        body=(
            statement(f"{bench.sum_type} key = out[i][j]"),
            statement("int k = j"),
            shift,
            statement("out[i][k] = key"),
        ),
    )
    return Built(body=(*copy, loop("i", m, "parallel", insert)), shape=x.shape, values=x.values)


def bitonic_sort(bench: Bench) -> Built:
    """Every row in ascending order by a network of compare-and-swap; rows of a power of two."""
    x = bench.input("x", rank=(1, 2), accept=lambda shape: shape[-1] in (4, 8, 16))
    length = x.shape[-1]
    stages = length.bit_length() - 1
    rows = len(x.shape) == 2
    n, lg = bench.size("N", length), bench.size("STAGES", stages)
    at = "[i]" if rows else ""
    swap: tuple[Node, ...] = (
        statement(f"{bench.sum_type} low = out{at}[j]"),
        statement(f"{bench.sum_type} high = out{at}[j ^ gap]"),
        Branch(
            condition="(j & size) == 0 ? low > high : low < high",
            body=(statement(f"out{at}[j] = high"), statement(f"out{at}[j ^ gap] = low")),
        ),
    )
    pair = Branch(condition="(j & gap) == 0", body=swap)
    merge: tuple[Node, ...] = (
        statement("int gap = 1 << (p - q)"),
        loop("j", n, "parallel", pair),
    )
    stage = Loop(
        variable="q",
        stop="p + 1",
        kind="serial",
        trips=stages,
        exact=False,
        body=merge,
    )
    network = loop("p", lg, "serial", statement("int size = 2 << p"), stage)
    axes = [("i", bench.size("M", x.shape[0]))] if rows else []
    copy = nest([*axes, ("j", n)], "parallel", statement(f"out{at}[j] = x{at}[j]"))
    return Built(body=(*copy, *nest(axes, "parallel", network)), shape=x.shape, values=x.values)


def merge_sort(bench: Bench) -> Built:
    """A vector in ascending order by merging runs of doubling length through a buffer."""
    x = bench.input("x", rank=1, accept=lambda shape: shape[0] <= 32)
    n = bench.size("N", x.shape[0])
    buffer = bench.local("buffer", [n])
    take = Branch(
        condition="right >= end || (left < middle && out[left] <= out[right])",
        body=(statement(f"{buffer}[k] = out[left]"), statement("left++")),
        otherwise=(statement(f"{buffer}[k] = out[right]"), statement("right++")),
    )
    bench.use("MIN")
    merge: tuple[Node, ...] = (
        statement(f"int middle = MIN(start + width, {n.text})"),
        statement(f"int end = MIN(start + 2 * width, {n.text})"),
        statement("int left = start"),
        statement("int right = middle"),
        Loop(variable="k", start="start", stop="end", kind="serial", trips=4, exact=False, body=(take,)),
    )
    passes: Node = Loop(
        variable="start",
        stop=n.text,
        step="2 * width",
        kind="serial",
        trips=max(1, n.size // 4),
        exact=False,
        body=merge,
    )
    back = nest([("k", n)], "parallel", statement(f"out[k] = {buffer}[k]"))
    turns = (n.size - 1).bit_length()
    widths = While(condition=f"width < {n.text}", trips=turns, body=(passes, *back, statement("width *= 2")))
    copy = nest([("k", n)], "parallel", statement("out[k] = x[k]"))
    return Built(body=(*copy, statement("int width = 1"), widths), shape=x.shape, values=x.values)


def top_k(bench: Bench) -> Built:
    """The K largest of every row in descending order, by selection."""
    x = bench.input("x", rank=2, accept=lambda shape: 4 <= shape[1] <= 14)
    m, n = bench.sizes("M N", x.shape)
    k = bench.size("K", bench.random.randint(1, 3))
    work = bench.local("work", [n], None if bench.floating else "int")
    better = Branch(condition=f"{work}[j] > {work}[best]", body=(statement("best = j"),))
    pick: tuple[Node, ...] = (
        statement("int best = 0"),
        loop("j", n, "serial", better),
        statement(f"out[i][p] = {work}[best]"),
        statement(f"{work}[best] = {bench.number(-100000)}"),
    )
    body: tuple[Node, ...] = (
        *nest([("j", n)], "parallel", statement(f"{work}[j] = x[i][j]")),
        loop("p", k, "serial", *pick),
    )
    return Built(body=(loop("i", m, "parallel", *body),), shape=(m.size, k.size), values=x.values)
