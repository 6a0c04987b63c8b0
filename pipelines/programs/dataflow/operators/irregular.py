"""Operators whose loops or subscripts depend on data: sorting and sparse products."""

from __future__ import annotations

from pipelines.programs.dataflow.builder import Bench, Built
from pipelines.programs.dataflow.options import ZERO, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, Branch, Loop, Node, While, loop, nest, statement


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


def csr_matvec(bench: Bench) -> Built:
    """out[R] = A x, row r holding entries row[r] .. row[r + 1] - 1."""
    x = bench.input("x", rank=1)
    rows, nonzeros = _compressed(bench, x.shape[0])
    values = (bench.bindings["value"].values * x.values).accumulated(nonzeros)
    if not bench.floating:
        require_int32(values)
    r = bench.size("R", rows)
    text, values = bench.finish("sum", values)
    body: tuple[Node, ...] = (
        statement(f"{bench.sum_type} sum = 0"),
        _entries(rows, nonzeros, statement("sum += value[p] * x[column[p]]")),
        statement(f"out[i] = {text}"),
    )
    return Built(body=(loop("i", r, "parallel", *body),), shape=(rows,), values=values)


def csr_matmul(bench: Bench) -> Built:
    """out[R][N] = A B with A in compressed rows; sums in a row of the result or of a buffer."""
    b = bench.input("b", rank=2, accept=lambda shape: shape[1] <= 10)
    rows, nonzeros = _compressed(bench, b.shape[0])
    values = (bench.bindings["value"].values * b.values).accumulated(nonzeros)
    if not bench.floating:
        require_int32(values)
    r, n = bench.size("R", rows), bench.size("N", b.shape[1])
    total = f"{bench.local('acc', [n])}[j]" if bench.element.narrow else "out[i][j]"
    columns: list[Axis] = [("j", n)]
    text, values = bench.finish(total, values)
    add = nest(columns, "parallel", statement(f"{total} += value[p] * b[column[p]][j]"))
    store = nest(columns, "parallel", statement(f"out[i][j] = {text}")) if text != "out[i][j]" else ()
    body: tuple[Node, ...] = (
        *nest(columns, "parallel", statement(f"{total} = 0")),
        _entries(rows, nonzeros, *add),
        *store,
    )
    return Built(body=(loop("i", r, "parallel", *body),), shape=(rows, n.size), values=values)


def _compressed(bench: Bench, columns: int) -> tuple[int, int]:
    rows = bench.random.randint(4, 12)
    nonzeros = bench.random.randint(rows, min(3 * rows, rows * columns))
    bench.external("value", (nonzeros,), bench.random.choice(bench.element.weights))
    bench.external("column", (nonzeros,), columns - 1, low=0, index=True)
    data = {"kind": "csr_rows", "nonzeros": nonzeros}
    bench.external("row", (rows + 1,), nonzeros, low=0, index=True, data=data)
    bench.parameter("nonzeros", nonzeros)
    return rows, nonzeros


def _entries(rows: int, nonzeros: int, *body: Node) -> Loop:
    return Loop(
        variable="p",
        start="row[i]",
        stop="row[i + 1]",
        kind="reduction",
        trips=max(1, nonzeros // rows),
        exact=False,
        body=body,
    )


def coo_matvec(bench: Bench) -> Built:
    """out[R] = A x with A as triples; their number may be a scalar."""
    x = bench.input("x", rank=1)
    rows = bench.random.randint(4, 16)
    nonzeros = bench.random.randint(rows, 3 * rows)
    value = bench.external("value", (nonzeros,), bench.random.choice(bench.element.weights))
    bench.external("row", (nonzeros,), rows - 1, low=0, index=True)
    bench.external("column", (nonzeros,), x.shape[0] - 1, low=0, index=True)
    values = (value.values * x.values).accumulated(nonzeros)
    if not bench.floating:
        require_int32(values)
    r = bench.size("R", rows)
    z = bench.runtime(bench.size("NONZEROS", nonzeros), "count")
    total = bench.local("acc", [r]) if bench.element.narrow else "out"
    text, values = bench.finish(f"{total}[i]", values)
    body = nest([("i", r)], "parallel", statement(f"{total}[i] = 0"))
    body += nest([("p", z)], "reduction", statement(f"{total}[row[p]] += value[p] * x[column[p]]"))
    if text != "out[i]":
        body += nest([("i", r)], "parallel", statement(f"out[i] = {text}"))
    return Built(body=body, shape=(rows,), values=values)


def ell_matmul(bench: Bench) -> Built:
    """out[R][N] = A B with A in rows of equal length, each entry with its column."""
    b = bench.input("b", rank=2, accept=lambda shape: shape[1] <= 10)
    rows, width = bench.random.randint(3, 10), bench.random.randint(2, 4)
    value = bench.external("value", (rows, width), bench.random.choice(bench.element.weights))
    bench.external("column", (rows, width), b.shape[0] - 1, low=0, index=True)
    r, k, n = bench.size("R", rows), bench.size("K", width), bench.size("N", b.shape[1])
    nodes, values = bench.accumulate(
        outer=[("i", r), ("j", n)],
        inner=[("p", k)],
        term="value[i][p] * b[column[i][p]][j]",
        term_values=value.values * b.values,
    )
    return Built(body=nodes, shape=(rows, n.size), values=values.hull(ZERO))


def sampled_product(bench: Bench) -> Built:
    """out[Z] = a[row[z]] . b[column[z]]: products of chosen rows."""
    a = bench.input("a", rank=2, accept=lambda shape: shape[1] <= 12)
    width = a.shape[1]
    others, count = bench.random.randint(3, 8), bench.random.randint(4, 16)
    b = bench.weight("b", (others, width), sharing=0.5)
    if a.shape[0] < 2:
        raise Unsuitable("choosing needs two rows")
    bench.external("row", (count,), a.shape[0] - 1, low=0, index=True)
    bench.external("column", (count,), others - 1, low=0, index=True)
    z, d = bench.size("Z", count), bench.size("D", width)
    nodes, values = bench.accumulate(
        outer=[("i", z)],
        inner=[("k", d)],
        term="a[row[i]][k] * b[column[i]][k]",
        term_values=a.values * b.values,
    )
    return Built(body=nodes, shape=(count,), values=values)
