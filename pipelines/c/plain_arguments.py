"""A function for hardware around one whose arguments are structures: its arguments are numbers and arrays.

Hardware and native C call the same function, so both pass the same members.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field

from pycparser import c_ast, c_generator

from pipelines.c.errors import HlsError
from pipelines.c.reading.bodies import all_nodes
from pipelines.c.reading.calls import MEMORY_CALLS
from pipelines.c.reading.declarators import FileScope, file_scope_of
from pipelines.c.reading.values import UPDATES
from pipelines.c.text.preprocess import parse

_ENDING = "_plain"


def with_plain_arguments(source: str, top: str, *, file: str = "program.c") -> tuple[str, str]:
    """Return the text with a function that passes the members of structures, and its name.

    Structures with pointers, of arguments that are structures or point to one, become an argument per member:
    `NAME_MEMBER`. A structure without pointers becomes an array of one structure. A structure that the
    function returns becomes the argument `returned`; a pointer that it returns the index in the only array of
    its type, -1 for null.

    Returns: the text and the name themselves when no argument is such a structure.
    Raises:  HlsError: a member is a function pointer, or an array of pointers.
    """
    try:
        scope = file_scope_of(parse(source, file=file))
    except HlsError:
        return source, top  # reading the program says why
    definition = scope.functions.get(top)
    if definition is None:
        return source, top
    writer = _Writer(scope=scope, file=file)
    text = writer.function(definition, f"{top}{_ENDING}")
    if text is None:
        return source, top
    return f"{source.rstrip()}\n{text}", f"{top}{_ENDING}"


@dataclass(slots=True, kw_only=True)
class _Writer:
    """Writes one function.

    Attributes:
        parameters: declarations. before, after: statements around the call. changed: an argument differs from
            the called function's.
    """

    scope: FileScope
    file: str
    parameters: list[str] = field(default_factory=list[str])
    before: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])
    changed: bool = False
    _written: frozenset[str] | None = None

    def function(self, definition: c_ast.FuncDef, name: str) -> str | None:
        """Return the function; None when it would have the same arguments and result."""
        kind = definition.decl.type
        listed = [] if kind.args is None else list(kind.args.params)
        if definition.param_decls or not all(isinstance(p, c_ast.Decl | c_ast.Typename) for p in listed):
            return None
        declared = [p for p in listed if isinstance(p, c_ast.Decl) and p.name]
        call = f"{definition.decl.name}({', '.join([self._argument(p) for p in declared])})"
        result = self._result(kind.type, call, declared)
        if not self.changed or result is None:
            return None
        lines = [*self.before, result[1], *self.after, *result[2:]]
        body = "".join(f"    {line}\n" for line in lines)
        return f"{result[0]} {name}({', '.join(self.parameters) or 'void'})\n{{\n{body}}}\n"

    def _result(self, kind: c_ast.Node, call: str, declared: list[c_ast.Decl]) -> list[str] | None:
        """Return the result's type, the call, and the statement that returns its value; None for others."""
        own = self._resolved(kind)
        if isinstance(own, c_ast.Struct | c_ast.Union):
            self.changed = True
            self.parameters.append(_spelled(c_ast.PtrDecl([], _unqualified(kind)), "returned"))
            return ["void", f"*returned = {call};"]
        if isinstance(own, c_ast.PtrDecl):
            target = _spelled(_unqualified(own.type), "")
            bases = [
                p.name
                for p in declared
                if isinstance(self._resolved(p.type), c_ast.PtrDecl | c_ast.ArrayDecl)
                and _spelled(_unqualified(self._resolved(p.type).type), "") == target
            ]
            if len(bases) != 1:
                return None
            self.changed = True
            pointer = _spelled(kind, "returned")
            return ["long", f"{pointer} = {call};", f"return returned ? returned - {bases[0]} : -1;"]
        if getattr(own, "names", None) == ["void"]:
            return ["void", f"{call};"]
        spelled = _spelled(kind, "returned")
        return [_spelled(kind, ""), f"{spelled} = {call};", "return returned;"]

    def _argument(self, parameter: c_ast.Decl) -> str:
        """Declare a parameter; return what the call passes for it."""
        name, kind = str(parameter.name), self._resolved(parameter.type)
        if isinstance(kind, c_ast.Struct | c_ast.Union) and not self._has_pointer(kind):
            self.changed = True
            self.parameters.append(_spelled(c_ast.PtrDecl([], _constant(_unqualified(parameter.type))), name))
            return f"*{name}"
        is_pointer = isinstance(kind, c_ast.PtrDecl)
        structure = self._resolved(kind.type) if is_pointer else kind
        if not isinstance(structure, c_ast.Struct) or not self._has_pointer(structure):
            self.parameters.append(_spelled(parameter.type, name))
            return name
        self.changed = True
        whole = kind.type if is_pointer else parameter.type
        self.before.append(f"{_spelled(_unqualified(whole), name)};")
        keeps = not is_pointer or "const" in whole.quals
        self._members(structure, name, name, keeps=keeps)
        return f"&{name}" if is_pointer else name

    def _members(self, structure: c_ast.Struct, name: str, place: str, *, keeps: bool) -> None:
        """Declare a parameter for each member, and pass it. keeps: the function does not change members."""
        for member in self._declared(structure):
            kind = self._resolved(member.type)
            own, part = f"{name}_{member.name}", f"{place}.{member.name}"
            if isinstance(kind, c_ast.PtrDecl) and not isinstance(kind.type, c_ast.FuncDecl):
                self.parameters.append(_spelled(member.type, own))
                self.before.append(f"{part} = {own};")
            elif isinstance(kind, c_ast.Struct) and (self._has_pointer(kind) or not kind.name):
                self._members(kind, own, part, keeps=keeps)
            elif isinstance(kind, c_ast.ArrayDecl) and not self._has_pointer(kind):
                self.parameters.append(_spelled(member.type, own))
                self.before.append(f"__builtin_memcpy({part}, {own}, sizeof {part});")
                self.after += [] if keeps else [f"__builtin_memcpy({own}, {part}, sizeof {part});"]
            elif isinstance(kind, c_ast.PtrDecl | c_ast.ArrayDecl):
                rule = "a structure argument must hold numbers, arrays of them and pointers to them"
                got = "an array of pointers" if isinstance(kind, c_ast.ArrayDecl) else "a function pointer"
                line = member.coord.line if member.coord else None
                raise HlsError(rule, f"{got} ({part})", file=self.file, line=line)
            elif isinstance(kind, c_ast.IdentifierType | c_ast.Enum) and (
                keeps or not self._may_write(member.name)
            ):
                self.parameters.append(_spelled(member.type, own))
                self.before.append(f"{part} = {own};")
            else:
                self.parameters.append(_spelled(c_ast.PtrDecl([], _unqualified(member.type)), own))
                self.before.append(f"{part} = *{own};")
                self.after += [] if keeps else [f"*{own} = {part};"]

    def _may_write(self, name: str) -> bool:
        """Tell whether a function of the file may change a member of that name."""
        if self._written is None:
            nodes = [n for d in self.scope.functions.values() for n in all_nodes(d.body)]
            places = [n.lvalue for n in nodes if isinstance(n, c_ast.Assignment)]
            places += [n.expr for n in nodes if isinstance(n, c_ast.UnaryOp) and n.op in (*UPDATES, "&")]
            copies = any(isinstance(n, c_ast.UnaryOp) and n.op == "*" for n in places)
            copies |= any(isinstance(n, c_ast.FuncCall) and _copies_memory(n) for n in nodes)
            members = {str(n.field.name) for n in places if isinstance(n, c_ast.StructRef)}
            self._written = None if copies else frozenset(members)
        return self._written is None or name in self._written

    def _declared(self, structure: c_ast.Node) -> Iterator[c_ast.Decl]:
        known = structure if structure.decls is not None else self.scope.tags.get(structure.name)
        for member in getattr(known, "decls", None) or ():
            if isinstance(member, c_ast.Decl) and member.name:
                yield member

    def _has_pointer(self, kind: c_ast.Node) -> bool:
        match kind:
            case c_ast.PtrDecl():
                return True
            case c_ast.ArrayDecl():
                return self._has_pointer(self._resolved(kind.type))
            case c_ast.Struct() | c_ast.Union():
                return any(self._has_pointer(self._resolved(m.type)) for m in self._declared(kind))
            case _:
                return False

    def _resolved(self, kind: c_ast.Node) -> c_ast.Node:
        """Return a type without the names that typedefs give it."""
        while True:
            match kind:
                case c_ast.TypeDecl() | c_ast.Typename():
                    kind = kind.type
                case c_ast.IdentifierType() if kind.names[0] in self.scope.typedefs:
                    kind = self.scope.typedefs[kind.names[0]].type
                case _:
                    return kind


def _copies_memory(call: c_ast.FuncCall) -> bool:
    return isinstance(call.name, c_ast.ID) and call.name.name.removeprefix("__builtin_") in MEMORY_CALLS


def _spelled(kind: c_ast.Node, name: str) -> str:
    kind = copy.deepcopy(kind)
    inner = kind
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name
    own = inner.type
    if isinstance(own, c_ast.Struct | c_ast.Union | c_ast.Enum) and own.name:
        inner.type = type(own)(own.name, None)
    declaration = c_ast.Decl(name or None, [], [], [], [], kind, None, None)
    return str(c_generator.CGenerator().visit(declaration)).strip()


def _unqualified(kind: c_ast.Node) -> c_ast.Node:
    """Return a type without `const` of its own."""
    kind = copy.deepcopy(kind)
    if isinstance(kind, c_ast.TypeDecl):
        kind.quals = [q for q in kind.quals if q != "const"]
    return kind


def _constant(kind: c_ast.Node) -> c_ast.Node:
    if isinstance(kind, c_ast.TypeDecl):
        kind.quals = ["const"]
    return kind
