"""Initial values of local memories that the program also stores to.

A memory has no reset. The elements are stored by loops at the start of the function: from a table, or one
value when all are equal; the loops are pipelined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.hls import ir
from pipelines.interface import INT32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filling:
    """What fills one array."""

    statements: tuple[ir.Statement, ...]
    loop: str
    table: ir.Array | None


def store_initial_values(function: ir.Function) -> tuple[ir.Function, tuple[str, ...]]:
    """Give arrays that are stored to their initial values by loops.

    Returns: the function, and the names of the new innermost loops.
    """
    stored = ir.stored_arrays(function.body)
    arrays: list[ir.Array] = []
    tables: list[ir.Array] = []
    before: list[ir.Statement] = []
    loops: list[str] = []
    names = set(ir.all_names(function))
    for array in function.arrays:
        if array.external or array.initial is None or array.name not in stored:
            arrays.append(array)
            continue
        arrays.append(replace(array, initial=None))
        filling = _fill(array, names)
        before += filling.statements
        loops.append(filling.loop)
        tables += [filling.table] if filling.table is not None else []
    if not before:
        return function, ()
    plain = {a.name: a for a in arrays}
    body = _with_arrays(function.body, plain)
    whole = replace(function, arrays=(*arrays, *tables), body=(*_with_arrays(tuple(before), plain), *body))
    return whole, tuple(loops)


def _fresh(stem: str, names: set[str]) -> str:
    name, number = stem, 0
    while name in names:
        number += 1
        name = f"{stem}_{number}"
    names.add(name)
    return name


def _fill(array: ir.Array, names: set[str]) -> _Filling:
    """A loop nest that stores every initial value of an array; missing ones are zero."""
    given = array.initial or ()
    values = given + (0,) * (array.element_count - len(given))
    table = None
    if len(set(values)) > 1:
        table = replace(array, name=_fresh(f"{array.name}_start", names), initial=values)
    variables = [ir.Variable(name=_fresh(f"{array.name}_{k}", names)) for k in range(len(array.shape))]
    indices = tuple(ir.Read(variable=v) for v in variables)
    value: ir.Expression = ir.Constant(value=values[0], type=array.type)
    if table is not None:
        value = ir.Load(array=table, indices=indices, line=0)
    statement: ir.Statement = ir.Store(array=array, indices=indices, value=value, line=0)
    innermost = ""
    for variable, size in reversed(list(zip(variables, array.shape, strict=True))):
        name = _fresh(f"fill_{array.name}", names)
        innermost = innermost or name
        statement = ir.For(
            name=name,
            body=(statement,),
            line=0,
            variable=variable,
            lower=ir.Constant(value=0),
            comparison="lt",
            upper=ir.Constant(value=size, type=INT32),
            step=1,
        )
    return _Filling(statements=(statement,), loop=innermost, table=table)


def _with_arrays(body: tuple[ir.Statement, ...], arrays: dict[str, ir.Array]) -> tuple[ir.Statement, ...]:
    """The body with loads and stores of the arrays as they are now."""

    def present(part: ir.Expression) -> ir.Expression:
        if isinstance(part, ir.Load) and part.array.name in arrays:
            return replace(part, array=arrays[part.array.name])
        return part

    def visit(statement: ir.Statement) -> tuple[ir.Statement, ...]:
        if isinstance(statement, ir.Store) and statement.array.name in arrays:
            statement = replace(statement, array=arrays[statement.array.name])
        return (ir.map_own_expressions(statement, lambda e: ir.map_expression(e, present)),)

    return ir.map_statements(body, visit)
