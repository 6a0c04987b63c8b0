"""Operators whose loops or subscripts depend on data: sorting and sparse products."""

from __future__ import annotations

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder
from pipelines.programs.dataflow.options import ZERO, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, Branch, Loop, Node, While, loop, nest, statement


def insertion_sort(builder: OperatorBuilder) -> OperatorBody:
    """Sort every row by insertion; the rest of a row is copied when its length is a scalar."""
    x = builder.input("x", rank=2, accept=lambda shape: shape[1] <= 12)
    m, n = builder.sizes("M N", x.shape)
    run = builder.runtime(n, "length")
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
            statement(f"{builder.sum_type} key = out[i][j]"),
            statement("int k = j"),
            shift,
            statement("out[i][k] = key"),
        ),
    )
    return OperatorBody(body=(*copy, loop("i", m, "parallel", insert)), shape=x.shape, values=x.values)


def bitonic_sort(builder: OperatorBuilder) -> OperatorBody:
    """Return every row in ascending order by a network of compare-and-swap; rows of a power of two."""
    x = builder.input("x", rank=(1, 2), accept=lambda shape: shape[-1] in (4, 8, 16))
    length = x.shape[-1]
    stages = length.bit_length() - 1
    rows = len(x.shape) == 2
    n, lg = builder.size("N", length), builder.size("STAGES", stages)
    at = "[i]" if rows else ""
    swap: tuple[Node, ...] = (
        statement(f"{builder.sum_type} low = out{at}[j]"),
        statement(f"{builder.sum_type} high = out{at}[j ^ gap]"),
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
    axes = [("i", builder.size("M", x.shape[0]))] if rows else []
    copy = nest([*axes, ("j", n)], "parallel", statement(f"out{at}[j] = x{at}[j]"))
    return OperatorBody(body=(*copy, *nest(axes, "parallel", network)), shape=x.shape, values=x.values)


def merge_sort(builder: OperatorBuilder) -> OperatorBody:
    """Return a vector in ascending order by merging runs of doubling length through a buffer."""
    x = builder.input("x", rank=1, accept=lambda shape: shape[0] <= 32)
    n = builder.size("N", x.shape[0])
    buffer = builder.local("buffer", [n])
    take = Branch(
        condition="right >= end || (left < middle && out[left] <= out[right])",
        body=(statement(f"{buffer}[k] = out[left]"), statement("left++")),
        otherwise=(statement(f"{buffer}[k] = out[right]"), statement("right++")),
    )
    builder.use("MIN")
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
    return OperatorBody(body=(*copy, statement("int width = 1"), widths), shape=x.shape, values=x.values)


def top_k(builder: OperatorBuilder) -> OperatorBody:
    """Return the K largest of every row in descending order, by selection."""
    x = builder.input("x", rank=2, accept=lambda shape: 4 <= shape[1] <= 14)
    m, n = builder.sizes("M N", x.shape)
    k = builder.size("K", builder.random.randint(1, 3))
    work = builder.local("work", [n], None if builder.floating else "int")
    better = Branch(condition=f"{work}[j] > {work}[best]", body=(statement("best = j"),))
    pick: tuple[Node, ...] = (
        statement("int best = 0"),
        loop("j", n, "serial", better),
        statement(f"out[i][p] = {work}[best]"),
        statement(f"{work}[best] = {builder.number(-100000)}"),
    )
    body: tuple[Node, ...] = (
        *nest([("j", n)], "parallel", statement(f"{work}[j] = x[i][j]")),
        loop("p", k, "serial", *pick),
    )
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=(m.size, k.size), values=x.values)


def csr_matvec(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[R] = A x, row r holding entries row[r] .. row[r + 1] - 1."""
    x = builder.input("x", rank=1)
    rows, nonzeros = _compressed(builder, x.shape[0])
    values = (builder.bindings["value"].values * x.values).accumulated(nonzeros)
    if not builder.floating:
        require_int32(values)
    r = builder.size("R", rows)
    text, values = builder.finish("sum", values)
    body: tuple[Node, ...] = (
        statement(f"{builder.sum_type} sum = 0"),
        _entries(rows, nonzeros, statement("sum += value[p] * x[column[p]]")),
        statement(f"out[i] = {text}"),
    )
    return OperatorBody(body=(loop("i", r, "parallel", *body),), shape=(rows,), values=values)


def csr_matmul(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[R][N] = A B with A in compressed rows; sums in a row of the result or of a buffer."""
    b = builder.input("b", rank=2, accept=lambda shape: shape[1] <= 10)
    rows, nonzeros = _compressed(builder, b.shape[0])
    values = (builder.bindings["value"].values * b.values).accumulated(nonzeros)
    if not builder.floating:
        require_int32(values)
    r, n = builder.size("R", rows), builder.size("N", b.shape[1])
    total = f"{builder.local('acc', [n])}[j]" if builder.element.narrow else "out[i][j]"
    columns: list[Axis] = [("j", n)]
    text, values = builder.finish(total, values)
    add = nest(columns, "parallel", statement(f"{total} += value[p] * b[column[p]][j]"))
    store = nest(columns, "parallel", statement(f"out[i][j] = {text}")) if text != "out[i][j]" else ()
    body: tuple[Node, ...] = (
        *nest(columns, "parallel", statement(f"{total} = 0")),
        _entries(rows, nonzeros, *add),
        *store,
    )
    return OperatorBody(body=(loop("i", r, "parallel", *body),), shape=(rows, n.size), values=values)


def _compressed(builder: OperatorBuilder, columns: int) -> tuple[int, int]:
    rows = builder.random.randint(4, 12)
    nonzeros = builder.random.randint(rows, min(3 * rows, rows * columns))
    builder.external("value", (nonzeros,), builder.random.choice(builder.element.weights))
    builder.external("column", (nonzeros,), columns - 1, low=0, index=True)
    data = {"kind": "csr_rows", "nonzeros": nonzeros}
    builder.external("row", (rows + 1,), nonzeros, low=0, index=True, data=data)
    builder.parameter("nonzeros", nonzeros)
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


def coo_matvec(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[R] = A x with A as triples; their number may be a scalar."""
    x = builder.input("x", rank=1)
    rows = builder.random.randint(4, 16)
    nonzeros = builder.random.randint(rows, 3 * rows)
    value = builder.external("value", (nonzeros,), builder.random.choice(builder.element.weights))
    builder.external("row", (nonzeros,), rows - 1, low=0, index=True)
    builder.external("column", (nonzeros,), x.shape[0] - 1, low=0, index=True)
    values = (value.values * x.values).accumulated(nonzeros)
    if not builder.floating:
        require_int32(values)
    r = builder.size("R", rows)
    z = builder.runtime(builder.size("NONZEROS", nonzeros), "count")
    total = builder.local("acc", [r]) if builder.element.narrow else "out"
    text, values = builder.finish(f"{total}[i]", values)
    body = nest([("i", r)], "parallel", statement(f"{total}[i] = 0"))
    body += nest([("p", z)], "reduction", statement(f"{total}[row[p]] += value[p] * x[column[p]]"))
    if text != "out[i]":
        body += nest([("i", r)], "parallel", statement(f"out[i] = {text}"))
    return OperatorBody(body=body, shape=(rows,), values=values)


def ell_matmul(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[R][N] = A B with A in rows of equal length, each entry with its column."""
    b = builder.input("b", rank=2, accept=lambda shape: shape[1] <= 10)
    rows, width = builder.random.randint(3, 10), builder.random.randint(2, 4)
    value = builder.external("value", (rows, width), builder.random.choice(builder.element.weights))
    builder.external("column", (rows, width), b.shape[0] - 1, low=0, index=True)
    r, k, n = builder.size("R", rows), builder.size("K", width), builder.size("N", b.shape[1])
    nodes, values = builder.accumulate(
        outer=[("i", r), ("j", n)],
        inner=[("p", k)],
        term="value[i][p] * b[column[i][p]][j]",
        term_values=value.values * b.values,
    )
    return OperatorBody(body=nodes, shape=(rows, n.size), values=values.hull(ZERO))


def sampled_product(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[Z] = a[row[z]] . b[column[z]]: products of chosen rows."""
    a = builder.input("a", rank=2, accept=lambda shape: shape[1] <= 12)
    width = a.shape[1]
    others, count = builder.random.randint(3, 8), builder.random.randint(4, 16)
    b = builder.weight("b", (others, width), sharing=0.5)
    if a.shape[0] < 2:
        raise Unsuitable("choosing needs two rows")
    builder.external("row", (count,), a.shape[0] - 1, low=0, index=True)
    builder.external("column", (count,), others - 1, low=0, index=True)
    z, d = builder.size("Z", count), builder.size("D", width)
    nodes, values = builder.accumulate(
        outer=[("i", z)],
        inner=[("k", d)],
        term="a[row[i]][k] * b[column[i]][k]",
        term_values=a.values * b.values,
    )
    return OperatorBody(body=nodes, shape=(count,), values=values)
