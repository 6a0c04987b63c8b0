"""Products with sparse matrices."""

from __future__ import annotations

from pipelines.programs.dataflow.bench import Bench, Built
from pipelines.programs.dataflow.tree import Axis, Loop, Node, loop, nest, statement
from pipelines.programs.dataflow.values import ZERO, Unsuitable, require_int32


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
