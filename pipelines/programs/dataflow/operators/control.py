"""Operators whose loops end on data: searches, walks over graphs and lists, early exits, sorting."""

from __future__ import annotations

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder
from pipelines.programs.dataflow.options import Range, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Branch, Loop, Node, While, loop, nest, statement


def binary_search(builder: OperatorBuilder) -> OperatorBody:
    """Count for every element the entries of a sorted table below it, by binary search."""
    x = builder.input("x", rank=1)
    entries = builder.random.choice((8, 12, 16, 24, 32, 60, 100))
    _require_index(builder, entries)
    ends = (x.values.low, x.values.high)
    low, high = ends if builder.floating else (int(ends[0]), int(ends[1]) + 1)
    data = {"kind": "sorted", "low": low, "high": high}
    builder.external("table", (entries,), x.values.magnitude, data=data)
    m, n = builder.size("M", x.shape[0]), builder.size("N", entries)
    halve = Branch(
        condition="table[middle] < x[i]",
        body=(statement("low = middle + 1"),),
        otherwise=(statement("high = middle"),),
    )
    search = While(
        condition="low < high",
        trips=entries.bit_length(),
        body=(statement("int middle = (low + high) / 2"), halve),
    )
    body: tuple[Node, ...] = (
        statement("int low = 0"),
        statement(f"int high = {n.text}"),
        search,
        statement("out[i] = low"),
    )
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=(m.size,), values=Range(0, entries))


def sparse_intersection(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[i] = sum of a[i][p] b[q] over equal coordinates of two sorted lists, by merging them."""
    a = builder.input("a", rank=2, accept=lambda shape: shape[1] >= 4)
    length = builder.random.randint(4, 2 * a.shape[1])
    span = builder.random.randint(2, 4) * max(a.shape[1], length)
    b = builder.weight("b", (length,))
    for role, size in (("left", a.shape[1]), ("right", length)):
        data = {"kind": "sorted", "low": 0, "high": span}
        builder.external(role, (size,), span - 1, low=0, index=True, data=data)
    values = (a.values * b.values).accumulated(min(a.shape[1], length))
    if not builder.floating:
        require_int32(values)
    m, p, q = builder.size("M", a.shape[0]), builder.size("P", a.shape[1]), builder.size("Q", length)
    step = Branch(
        condition="left[p] < right[q]",
        body=(statement("p++"),),
        otherwise=(
            Branch(
                condition="left[p] == right[q]", body=(statement("sum += a[i][p] * b[q]"), statement("p++"))
            ),
            statement("q++"),
        ),
    )
    merge = While(condition=f"p < {p.text} && q < {q.text}", trips=p.size + q.size, body=(step,))
    text, values = builder.finish("sum", values)
    body: tuple[Node, ...] = (
        statement(f"{builder.sum_type} sum = 0"),
        statement("int p = 0"),
        statement("int q = 0"),
        merge,
        statement(f"out[i] = {text}"),
    )
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=(m.size,), values=values)


def graph_walk(builder: OperatorBuilder) -> OperatorBody:
    """Compute breadth-first levels from node 0 through nodes with positive x, -1 for unreached ones."""
    x = builder.input("x", rank=1)
    nodes = x.shape[0]
    _require_index(builder, nodes)
    edges = builder.random.randint(nodes, 4 * nodes)
    data = {"kind": "csr_rows", "nonzeros": edges}
    builder.external("first", (nodes + 1,), edges, low=0, index=True, data=data)
    builder.external("target", (edges,), nodes - 1, low=0, index=True)
    n = builder.size("N", nodes)
    queue = builder.local("queue", [n], "int")
    visit = Branch(
        condition=f"out[v] < 0 && x[v] > {builder.number(0)}",
        body=(statement("out[v] = out[u] + 1"), statement(f"{queue}[tail] = v"), statement("tail++")),
    )
    follow = Loop(
        variable="e",
        start="first[u]",
        stop="first[u + 1]",
        kind="serial",
        trips=max(1, edges // nodes),
        exact=False,
        body=(statement("int v = target[e]"), visit),
    )
    walk = While(
        condition="head < tail",
        trips=max(1, nodes // 2),
        body=(statement(f"int u = {queue}[head]"), statement("head++"), follow),
    )
    body: tuple[Node, ...] = (
        *nest([("i", n)], "parallel", statement("out[i] = -1")),
        statement("int head = 0"),
        statement("int tail = 1"),
        statement(f"{queue}[0] = 0"),
        statement("out[0] = 0"),
        walk,
    )
    return OperatorBody(body=body, shape=x.shape, values=Range(-1, nodes - 1))


def list_walk(builder: OperatorBuilder) -> OperatorBody:
    """Walk from every node along a linked list to the first positive element, or for MOST steps."""
    x = builder.input("x", rank=1, accept=lambda shape: shape[0] >= 4)
    nodes = x.shape[0]
    builder.external("next", (nodes,), nodes - 1, low=0, index=True, data={"kind": "permutation"})
    most = builder.random.randint(3, nodes)
    builder.parameter("most", most)
    n, limit = builder.size("N", nodes), builder.size("MOST", most)
    walk = While(
        condition=f"steps < {limit.text} && x[p] <= {builder.number(0)}",
        trips=min(3, most),
        body=(statement("p = next[p]"), statement("steps++")),
    )
    body: tuple[Node, ...] = (
        statement("int p = i"),
        statement("int steps = 0"),
        walk,
        statement("out[i] = x[p]"),
    )
    return OperatorBody(body=(loop("i", n, "parallel", *body),), shape=x.shape, values=x.values)


def string_search(builder: OperatorBuilder) -> OperatorBody:
    """Count the signs of a pattern that match x from every place on, up to the first difference."""
    x = builder.input("x", rank=2, accept=lambda shape: shape[1] >= 6)
    length = builder.random.randint(2, min(5, x.shape[1] - 2))
    builder.external("pattern", (length,), 1, low=0, index=True)
    m, k = builder.size("M", x.shape[0]), builder.size("K", length)
    places = builder.size("PLACES", x.shape[1] - length + 1)
    builder.size("N", x.shape[1])
    match = While(
        condition=f"k < {k.text} && (x[i][j + k] > {builder.number(0)}) == pattern[k]",
        trips=2,
        body=(statement("k++"),),
    )
    body = (statement("int k = 0"), match, statement("out[i][j] = k"))
    return OperatorBody(
        body=nest([("i", m), ("j", places)], "parallel", *body),
        shape=(m.size, places.size),
        values=Range(0, length),
    )


def common_divisor(builder: OperatorBuilder) -> OperatorBody:
    """Return the greatest common divisors of magnitudes, element by element, by Euclid's algorithm."""
    a = builder.input("a", rank=(1, 2))
    if builder.floating:
        raise Unsuitable("divisors need integers")
    b = builder.weight("b", a.shape, sharing=0.5)
    axes = [(v, builder.size(r, s)) for v, r, s in zip("ij", "MN", a.shape, strict=False)]
    at = "".join(f"[{v}]" for v, _ in axes)
    euclid = While(
        condition="v != 0",
        trips=5,
        body=(statement("int rest = u % v"), statement("u = v"), statement("v = rest")),
    )
    body = (
        statement(f"int u = a{at} < 0 ? -a{at} : a{at}"),
        statement(f"int v = b{at} < 0 ? -b{at} : b{at}"),
        euclid,
        statement(f"out{at} = u"),
    )
    most = max(a.values.magnitude, b.values.magnitude)
    return OperatorBody(body=nest(axes, "parallel", *body), shape=a.shape, values=Range(0, most))


def compact(builder: OperatorBuilder) -> OperatorBody:
    """Return the positive elements of every row at its front, zeros after them."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    keep = Branch(
        condition=f"x[i][j] > {builder.number(0)}",
        body=(statement("out[i][count] = x[i][j]"), statement("count++")),
    )
    fill = While(
        condition=f"count < {n.text}",
        trips=max(1, n.size // 2),
        body=(statement("out[i][count] = 0"), statement("count++")),
    )
    body = (statement("int count = 0"), loop("j", n, "serial", keep), fill)
    values = Range(0, max(0, x.values.high))
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=x.shape, values=values)


def first_above(builder: OperatorBuilder) -> OperatorBody:
    """Find for every row the place of its first element above a limit, its length if there is none."""
    x = builder.input("x", rank=2)
    _require_index(builder, x.shape[1])
    share = builder.random.choice((0.25, 0.5, 0.75, 0.9))
    limit = int(x.values.low + share * (x.values.high - x.values.low))
    builder.parameter("limit", limit)
    m, n = builder.sizes("M N", x.shape)
    scan = While(
        condition=f"j < {n.text} && x[i][j] <= {builder.number(limit)}",
        trips=max(1, n.size // 2),
        body=(statement("j++"),),
    )
    body = (statement("int j = 0"), scan, statement("out[i] = j"))
    return OperatorBody(body=(loop("i", m, "parallel", *body),), shape=(m.size,), values=Range(0, n.size))


def bubble_sort(builder: OperatorBuilder) -> OperatorBody:
    """Return a vector in ascending order by exchanges until a pass makes none."""
    x = builder.input("x", rank=1, accept=lambda shape: shape[0] <= 48)
    n = builder.size("N", x.shape[0])
    last = str(n.size - 1) if n.text.isdigit() else f"{n.text} - 1"
    swap = Branch(
        condition="left > right",
        body=(statement("out[j] = right"), statement("out[j + 1] = left"), statement("changed = 1")),
    )
    scan = Loop(
        variable="j",
        stop=last,
        kind="serial",
        trips=n.size - 1,
        body=(
            statement(f"{builder.sum_type} left = out[j]"),
            statement(f"{builder.sum_type} right = out[j + 1]"),
            swap,
        ),
    )
    passes = While(condition="changed", trips=max(2, 3 * n.size // 4), body=(statement("changed = 0"), scan))
    copy = nest([("i", n)], "parallel", statement("out[i] = x[i]"))
    return OperatorBody(body=(*copy, statement("int changed = 1"), passes), shape=x.shape, values=x.values)


def newton_root(builder: OperatorBuilder) -> OperatorBody:
    """Compute square roots of magnitudes by Newton's method until it converges; in integers rounded down."""
    x = builder.input("x", rank=(1, 2))
    axes = [(v, builder.size(r, s)) for v, r, s in zip("ij", "MN", x.shape, strict=False)]
    at = "".join(f"[{v}]" for v, _ in axes)
    magnitude = f"(x{at} < 0 ? -x{at} : x{at})"
    if builder.floating:
        body: tuple[Node, ...] = (
            statement(f"float v = {magnitude} + 0.0625f"),
            statement("float root = v > 1.0f ? v : 1.0f"),
            While(
                condition="root * root > v * 1.001f",
                trips=6,
                body=(statement("root = 0.5f * (root + v / root)"),),
            ),
            statement(f"out{at} = 0.5f * (root + v / root)"),
        )
    else:
        body = (
            statement(f"int v = {magnitude}"),
            statement("int root = v"),
            While(
                condition="root > 0 && root > v / root",
                trips=6,
                body=(statement("root = (root + v / root) / 2"),),
            ),
            statement(f"out{at} = root"),
        )
    most = (x.values.magnitude + 1) ** 0.5 + 1
    values = Range(0, most if builder.floating else int(most))
    return OperatorBody(body=nest(axes, "parallel", *body), shape=x.shape, values=values)


def counting_sort(builder: OperatorBuilder) -> OperatorBody:
    """Return the low bits of every element in ascending order, by counting how often each value occurs."""
    x = builder.input("x", rank=1)
    if builder.floating:
        raise Unsuitable("counting needs integers")
    bins = builder.random.choice((4, 8))
    n, b = builder.size("N", x.shape[0]), builder.size("BINS", bins)
    builder.parameter("bins", bins)
    count = builder.local("count", [b], "int")
    write = While(
        condition=f"{count}[k] > 0",
        trips=max(1, n.size // bins),
        body=(statement("out[p] = k"), statement("p++"), statement(f"{count}[k] -= 1")),
    )
    body: tuple[Node, ...] = (
        *nest([("k", b)], "parallel", statement(f"{count}[k] = 0")),
        *nest([("i", n)], "reduction", statement(f"{count}[x[i] & {bins - 1}] += 1")),
        statement("int p = 0"),
        loop("k", b, "serial", write),
    )
    return OperatorBody(body=body, shape=x.shape, values=Range(0, bins - 1))


def _require_index(builder: OperatorBuilder, largest: int) -> None:
    """Refuse sizes that elements cannot hold as an index."""
    if not builder.floating and largest > builder.element.limit:
        raise Unsuitable(f"an index up to {largest} must fit the element type")
