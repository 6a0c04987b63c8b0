"""Rules of the engine that came after designs were labelled, and the programs whose designs they change.

The version of the engine covers all other programs: their designs, with id and cache entries, stay as they
are. Most programs are told apart by their text, since reading one takes a process; the others are read.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipelines.c import ir
from pipelines.c.errors import HlsError, StaticObjectError
from pipelines.c.frontend import interface_of, read_function
from pipelines.c.text.preprocess import layouts_of, preprocess

STATIC_OBJECTS = "static-objects-1"
"""Objects of static storage that are written, or whose value the file does not fix, are ports; pointers of
file scope that change are refused; so are programs without outputs."""
CONSTANTS = "constants-1"
"""Constants that were refused are read: `_Generic`, `_Alignof`, wide characters and those of several bytes,
elements in `offsetof`, initialisers of written objects that fold by division by zero or functions of bits."""
FORMS = "forms-1"
"""Forms of C that were refused are read: output calls, bit-fields, `a ?: b`, null pointers, pointers to
pointers, to functions and to one of several arrays, arrays of pointers, structure arguments with pointers."""
LAYOUTS = "layouts-1"
"""Attributes and pragmas that change the layout of types are followed, where that changes a program or its
refusal."""
STARTS = "starts-1"
"""A counted loop that starts where an assignment before it left its variable, as `n += 5; while (n > 8)`:
the assignment counted twice, and the outputs differed from native C."""
VOLATILE = "volatile-1"
"""Programs with volatile objects are refused."""


@lru_cache(maxsize=1 << 14)
def later_rules(source: str, top: str) -> tuple[str, ...]:
    """Return the rules by which a program's designs differ from what the engine's version alone says."""
    text = _plain(source)
    rules = (VOLATILE,) if re.search(r"\b(?:__)?volatile(?:__)?\b", text) else ()
    rules = (LAYOUTS, *rules) if _has_other_layouts(source, top) else rules
    return (*_rules_of_reading(source, top, text), *rules)


_LAYOUTS = re.compile(r"__attribute|\bpack\b|_Alignas|\[\[|##")
"""What a text has that may change the layout of a type."""


def _has_other_layouts(source: str, top: str) -> bool:
    """Tell whether a program differs from the one whose types have their natural layouts."""
    if _LAYOUTS.search(source) is None:
        return False
    try:
        if not layouts_of(source) and "_Alignas" not in preprocess(source, file=""):
            return False
    except HlsError:
        return False
    readings = [_read_or_none(source, top, natural=natural) for natural in (False, True)]
    return readings[0] != readings[1]


def _read_or_none(source: str, top: str, *, natural: bool) -> ir.Function | None:
    try:
        return read_function(source, top=top, natural=natural)
    except HlsError:
        return None


_CONSTANTS = re.compile(
    r"""\b(?:_Generic|_Alignof|offsetof|__builtin_offsetof)\b|[LuU]'|'[^'\\\n]{2}|'\\.[^'\n]"""
)
"""What a text has that may be one of `CONSTANTS`."""


def _rules_of_reading(source: str, top: str, text: str) -> tuple[str, ...]:
    """Return the rules that a program is told to follow by reading it, where its text says that it may."""
    is_static = _may_have_objects(text) or not _has_outputs(text, top)
    written = _SKIPPED.sub(lambda m: m[0] if m[0][0] == "'" else " ", source)
    if not (is_static or _CONSTANTS.search(written) or _may_have_forms(text) or _STARTS.search(text)):
        return ()
    try:
        function = read_function(source, top=top)
    except StaticObjectError:
        return (STATIC_OBJECTS,) if is_static else ()
    except HlsError:  # refused as before
        return ()
    is_changed = is_static and (bool(function.objects) or not interface_of(function).has_outputs)
    rules = (STATIC_OBJECTS,) if is_changed else ()
    rules = (*rules, CONSTANTS) if function.later_constants else rules
    rules = (*rules, FORMS) if function.later_forms else rules
    return (*rules, STARTS) if function.later_starts else rules


_STARTS = re.compile(
    r"""(?:(?:[-+*/%&|^]|<<|>>)=|\b(\w{1,64})\s?=[^;={}]{0,400}?\b\1\b|\+\+|--)[^;{}]{0,400};
    (?:[^;{}]{0,400};){0,8}\s*(?:\w{1,64}\s?:\s*)?(?:while\b|for\s?\(\s?;)""",
    re.VERBOSE,
)
"""What a text has that may be one of `STARTS`. What this misses keeps its id: such a design was no label,
since its outputs differed."""


_FORMS = re.compile(
    r"""\b(?:printf|fprintf|vfprintf|puts|fputs|putchar|fputc|putc|perror|fflush|NULL|strncpy|strcat|strchr|tm
    |qsort|bsearch|(?:l?rint|lround|ldexp|log1p|expm1)f?)\b
    |\(\s*\*\s*(?:const\s+)?\w*\s*(?:\[[^\]]*\]\s*)*\)\s*\(
    |(?:^|[;{}])\s*(?:(?:static|const|struct|union|enum)\s+)*\w+(?:\s+const)?\s*\*[\s*]*(?:const\s+)?\w+\s*\[
    |,\s*\*+\s*(?:const\s+)?\w+\s*\[
    |\?\s*:|\bcase\b[^:;]*\.\.\.|\w\s*:\s*\w+\s*[;,]|\{[^{}]*\*[^{}]*\}\s*\w*\s*;""",
    re.VERBOSE | re.MULTILINE,
)
"""What a text has that may be one of `FORMS`: calls, operators, bit-fields, structures with pointers,
pointers to functions, arrays of pointers. What this misses keeps its id; a cached refusal of it is checked
(`labelling.flows.cached_rows`)."""
_POINTER = re.compile(
    r"\b(?:char|short|int|long|float|double|signed|unsigned|_Bool|bool|void|const|\w+_t|[A-Z]\w*|"
    r"(?:struct|union|enum)\s+\w+)\s*\*[\s*]*(?:(?:const|restrict)\s+)*(\w+)"
)
_POINTS = re.compile(r"\b(\w+)(?=\s*\*[\s*]*(?:(?:const|restrict)\s+)*(\w+))")
_GETS_A_VALUE = re.compile(r"&\s*(\w+)\b(?!\s*[\[.-])|\b(\w+)(?=\s*(?:=(?!=)|\())")
_CHOICE = re.compile(r"\?\s*&?\s*(\w+)[^?:;]*:\s*&?\s*(\w+)")


def _may_have_forms(text: str) -> bool:
    """Tell whether a text may have one of `FORMS`; pointers that get a value count."""
    if _FORMS.search(text):
        return True
    typedefs = re.findall(r"\btypedef\b[^;{}]*?(\w+)\s*;|\}\s*(\w+)\s*;", text)
    names = set(_POINTER.findall(text))
    own = {a or b for a, b in typedefs}
    names.update(name for kind, name in _POINTS.findall(text) if kind in own)
    if not names:
        return False
    arrays = set(re.findall(r"(\w+)\s*\[", text))
    if any(names.union(arrays).intersection(pair) for pair in _CHOICE.findall(text)):
        return True
    return any(name in names for pair in _GETS_A_VALUE.findall(text) for name in pair)


_SKIPPED = re.compile(r"""/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_LOCAL_STATIC = re.compile(r"\bstatic\b(?!\s+const\b)")


_INDEX = r"\[(?:[^][]|\[(?:[^][]|\[[^][]*\])*\])*\]"
_ELEMENT_STORE = re.compile(rf"\b(\w+)\s*(?:{_INDEX}\s*)+(?:\.\s*\w+\s*)*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=)")


def _plain(source: str) -> str:
    """Return the text without comments and the contents of strings."""
    return _SKIPPED.sub(lambda m: '""' if m[0][0] in "\"'" else " ", source)


def _parts(text: str) -> tuple[list[str], list[str]] | None:
    """Return the text outside braces, and in the braces between; None when they do not match."""
    outer, inner, depth = [list[str]()], list[list[str]](), 0
    for part in re.split(r"([{}])", _DIRECTIVE.sub("", text)):
        depth += (part == "{") - (part == "}")
        if part == "{" and depth == 1:
            inner.append([])
        elif part == "}" and depth == 0:
            outer.append([])
        else:
            (inner[-1] if depth > 0 and inner else outer[-1]).append(part)
    return (["".join(p) for p in outer], ["".join(p) for p in inner]) if depth == 0 else None


def _may_have_objects(text: str) -> bool:
    """Tell whether a text may declare an object of static storage that is not constant."""
    parts = _parts(text)
    directives = _DIRECTIVE.findall(text)
    if parts is None or any(";" in line or _LOCAL_STATIC.search(line) for line in directives):
        return True
    outer, inner = parts
    if any(_LOCAL_STATIC.search(part) for part in inner):
        return True
    declarations = re.sub(r"\)\s*\{\}", ");", "{}".join(outer)).split(";")
    return any(_is_object(declaration.split()) for declaration in declarations)


def _is_object(words: list[str]) -> bool:
    """Tell whether an outer declaration may be an object that is not constant."""
    declaration = " ".join(words)
    if not words or words[0] == "typedef" or re.fullmatch(r"(?:struct|union|enum) ?\w* ?\{\}", declaration):
        return False
    if _PROTOTYPE.fullmatch(re.sub(_INDEX, "", declaration)):
        return False
    return "const" not in words or "*" in declaration


_PROTOTYPE = re.compile(r"[\w *]*\w ?\( ?(?:void ?|[^()]*\w[ *]+[^()]*)?\)")
"""A function; text with other parentheses, as of attributes, may be an object."""
_PARAMETER = re.compile(r"\b(\w+)\s*(?:\[[^,]*)?(?:,|$)")
_CALL = re.compile(r"\b(\w+)\s*\(([^()]*)\)\s*;")
_LETTERS = f"{string.ascii_letters}{string.digits}_"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Definition:
    """A function as its text shows it: the words before its name, its parameters, the arrays it stores to."""

    kind: Sequence[str] = ()
    parameters: Sequence[str] = ()
    stored: frozenset[str] = frozenset()
    body: str = ""


def _definitions(text: str) -> dict[str, _Definition]:
    definitions: dict[str, _Definition] = {}
    parts = _parts(text)
    for outer, body in zip(*parts, strict=False) if parts is not None else ():
        before, _, listed = outer[outer.rfind(";") + 1 :].rstrip().rpartition("(")
        words = before.rstrip()
        kind = words.rstrip(_LETTERS)
        if listed.endswith(")") and words != kind:
            definition = _Definition(
                kind=kind.split(),
                parameters=_PARAMETER.findall(listed[:-1].strip()),
                stored=frozenset(_ELEMENT_STORE.findall(body)),
                body=body,
            )
            definitions.setdefault(words[len(kind) :], definition)
    return definitions


def _has_outputs(text: str, top: str) -> bool:
    """Tell whether a text shows a returned value of its top function, or a store to one of its arrays: by
    itself, or in a function that it passes an array to.
    """
    definitions = _definitions(text)
    own = definitions.get(top)
    if own is None:
        return False
    if "void" not in own.kind or own.stored.intersection(own.parameters):
        return True
    for name, listed in _CALL.findall(own.body):
        called = definitions.get(name, _Definition())
        arguments = [argument.strip() for argument in listed.split(",")]
        passed = {b for a, b in zip(arguments, called.parameters, strict=False) if a in own.parameters}
        if called.stored & passed:
            return True
    return False
