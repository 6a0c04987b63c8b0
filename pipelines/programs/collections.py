"""Collections of programs that people wrote: a folder per field, a C file and a manifest per kernel.

The manifest `NAME.json` beside `NAME.c` has what the text does not say:

    {"top": "fir", "sizes": {"mini": {"N": 64}}, "elements": {"x": "N"},
     "inputs": {"x": {"kind": "uniform", "low": -8, "high": 8}}, "tags": ["filter"], "features": ["while"]}

Sizes are macros. Elements of pointer arguments, and numbers of inputs, may be texts: arithmetic of macros.
A kernel whose files break a rule is a rejected row with the reason.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.base.arithmetic import number_problem, whole_number
from pipelines.base.files import read_bounded, shown
from pipelines.base.identity import content_hash
from pipelines.base.validation import NotJson, describe_invalid, parse_json_model
from pipelines.c import SOURCE_LIMIT_BYTES, sizes_text
from pipelines.programs.data import read_text
from pipelines.programs.errors import ProgramError
from pipelines.programs.rows import program_row, rejected_row
from pipelines.programs.similarity import code_words
from pipelines.programs.specification import read_specification
from pipelines.schemas import ProgramRow, write_bytes_atomically

WRITTEN = "written"
"""Suite of kernels written by hand, and their stage."""
WRITTEN_FOLDER = Path(__file__).parent / WRITTEN
FIELDS_LEFT_OUT = ("compression", "physics")
"""Fields of `written` that no model is trained on: they calibrate intervals and judge."""
MANIFEST_LIMIT_BYTES = 1 << 20
MOST_ELEMENTS = 99_999_999
"""Of an argument; a size has at most eight digits."""
MINI = "mini"
_TEXT_KEYS = frozenset(("kind",))
"""Keys of an input specification whose texts are no arithmetic."""

MacroName = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
Word = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]


class Manifest(BaseModel):
    """What belongs to a kernel beside its text.

    Attributes:
        sizes: value of each size macro, by name of a size.
        elements: elements of each pointer or array argument, in all its dimensions.
        inputs: how each argument that is read is drawn; see `pipelines.programs.specification`.
        tags: of kernels of the project, which each have some.
        features: constructs of C that the text has, of FEATURES; `write_features` writes them.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    top: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
    sizes: Annotated[dict[Word, dict[MacroName, int]], Field(min_length=1)]
    elements: dict[MacroName, int | str] = {}
    inputs: dict[MacroName, dict[str, Any]] = {}
    tags: tuple[Word, ...] = ()
    features: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenKernel:
    """A kernel of a collection.

    Attributes: field: name of its folder; name: of its files; text: the C file; sha256: of both files.
    """

    field: str
    name: str
    text: str
    manifest: Manifest
    sha256: str

    def row(self, size: str, *, suite: str, stage: str) -> ProgramRow:
        """Return its row at a size; raises what `content` raises."""
        source, inputs = self.content(size)
        return program_row(
            name=self.name,
            suite=suite,
            stage=stage,
            size=size,
            parameters=self.manifest.sizes[size],
            source=source,
            top=self.top,
            inputs=inputs,
            operators=self.manifest.tags,
        )

    def content(self, size: str) -> tuple[str, dict[str, dict[str, Any]]]:
        """Return source and input specification at a size.

        The source is the text behind its size macros and the sizes of pointer arguments.

        Raises: ProgramError: it has no such size, or a number is no arithmetic of its macros.
        """
        if size not in self.manifest.sizes:
            accepted = ", ".join(self.manifest.sizes)
            raise ProgramError(f"{self.name} has no size {size}; accepted: {accepted}")
        macros = self.manifest.sizes[size]
        defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
        elements = self._elements(macros)
        inputs = {
            name: {key: self._entry(name, key, value, macros) for key, value in kind.items()}
            for name, kind in self.manifest.inputs.items()
        }
        read_specification(json.dumps(inputs))
        known = _integer_macros(self.text, macros)
        pointers: dict[str, int] = {}
        for name, extents in pointer_parameters(self.text, self.top).items():
            inner = [self._number(f"extent of {name}", extent, known) for extent in extents]
            if name in elements:
                pointers[name] = max(1, elements[name] // max(1, math.prod(inner)))
        return defines + (sizes_text(pointers) if pointers else "") + self.text, inputs

    @property
    def top(self) -> str:
        """Name of the top function."""
        return self.manifest.top

    def _entry(self, argument: str, key: str, value: Any, macros: Mapping[str, int]) -> Any:
        if key in _TEXT_KEYS or not isinstance(value, str):
            return value
        return self._number(f"{key} of {argument}", value, macros)

    def _number(self, what: str, value: int | str, macros: Mapping[str, int]) -> int:
        number = value if isinstance(value, int) else whole_number(value, macros)
        if number is None:
            raise ProgramError(
                f"{what} of {self.name}: {number_problem(str(value), macros)}: {shown(repr(value))}; "
                "accepted: a whole number, or sums, products and quotients of "
                f"{', '.join(macros) or 'numbers'}"
            )
        return number

    def _elements(self, macros: Mapping[str, int]) -> dict[str, int]:
        """Return the elements of arguments by name."""
        parameters = _parameters(self.text, self.top)
        elements: dict[str, int] = {}
        for name, value in self.manifest.elements.items():
            if parameters is not None and re.search(rf"\b{name}\b", parameters) is None:
                raise ProgramError(f"elements of {name} of {self.name}: {self.top} has no such argument")
            elements[name] = self._number(f"elements of {name}", value, macros)
            if not 1 <= elements[name] <= MOST_ELEMENTS:
                raise ProgramError(
                    f"elements of {name} of {self.name}: {elements[name]}; accepted: 1 to {MOST_ELEMENTS}"
                )
        return elements


def read_kernel(manifest: Path) -> WrittenKernel:
    """Read a kernel by the path of its manifest.

    Raises: ProgramError: a file is missing, too large or no text, or the manifest breaks a rule.
    """
    content = _manifest_bytes(manifest)
    try:
        model = parse_json_model(content, Manifest)
    except NotJson as error:
        raise ProgramError(f"{error} ({manifest})") from error
    except ValidationError as error:
        raise ProgramError(describe_invalid(error, Manifest, manifest)) from error
    text = read_text(manifest.with_suffix(".c"), what="C source", limit_bytes=SOURCE_LIMIT_BYTES)
    return WrittenKernel(
        field=manifest.parent.name,
        name=manifest.stem,
        text=text,
        manifest=model,
        sha256=hashlib.sha256(content + b"\0" + text.encode()).hexdigest(),
    )


def _manifest_bytes(path: Path) -> bytes:
    return read_bounded(path, what="manifest", most_bytes=MANIFEST_LIMIT_BYTES, error=ProgramError)


def kernel_files(folder: Path) -> list[Path]:
    """List the manifests of a collection, by field and name."""
    return sorted(folder.glob("*/*.json"))


def read_collection(folder: Path) -> list[WrittenKernel]:
    """Read the kernels of a collection.

    Raises: ProgramError: a kernel breaks a rule.
    """
    return [read_kernel(path) for path in kernel_files(folder)]


@once
def fields_of_kernels() -> Mapping[str, str]:
    """Return the field of every kernel of suite `written` by its name."""
    return {path.stem: path.parent.name for path in kernel_files(WRITTEN_FOLDER)}


def left_out_kernels() -> frozenset[str]:
    """Return the names of the kernels of suite `written` in FIELDS_LEFT_OUT."""
    return frozenset(name for name, field in fields_of_kernels().items() if field in FIELDS_LEFT_OUT)


def collection_programs(
    folder: Path,
    *,
    suite: str,
    stage: str,
    sizes: Sequence[str],
    first: int = 0,
    count: int | None = None,
) -> list[ProgramRow]:
    """Return the programs of a collection at those of some sizes that each has, else at its first one.

    Args:    first, count: kernels in the order of their files; None for all from the first.
    Returns: a row per kernel and size; a kernel that breaks a rule has one rejected row with the reason.
    """
    rows: list[ProgramRow] = []
    for path in kernel_files(folder)[first : None if count is None else first + count]:
        try:
            rows += kernel_rows(path, suite=suite, stage=stage, sizes=sizes)
        except ProgramError as error:
            place = (path.parent.name, path.stem)
            rows.append(rejected_row(path.stem, str(error), place=place, suite=suite, stage=stage))
    return rows


def kernel_rows(manifest: Path, *, suite: str, stage: str, sizes: Sequence[str]) -> list[ProgramRow]:
    """Return the programs of a kernel at those of some sizes that it has, else at its first one.

    Raises: ProgramError: the kernel breaks a rule.
    """
    kernel = read_kernel(manifest)
    own = [size for size in sizes if size in kernel.manifest.sizes] or [next(iter(kernel.manifest.sizes))]
    return [kernel.row(size, suite=suite, stage=stage) for size in own]


_PARAMETER = re.compile(
    r"\(\s*\*[^()]*?\b(?P<rows>[A-Za-z_]\w*)\s*\)(?P<extents>(?:\s*\[[^\]]*\])+)"
    r"|\*[^,()\[\]]*?\b(?P<pointer>[A-Za-z_]\w*)\s*$"
    r"|\b(?P<open>[A-Za-z_]\w*)\s*\[\s*\](?P<inner>(?:\s*\[[^\]]*\])*)"
)
_EXTENT = re.compile(r"\[([^\]]*)\]")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)$", re.MULTILINE)
_SUFFIX = re.compile(r"\b(\d+)[uUlL]+\b")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def pointer_parameters(text: str, top: str) -> dict[str, tuple[str, ...]]:
    """Return the parameters of a top function that are pointers or arrays without an extent.

    Returns: by name, the extents of what it points to, as they are written: `int (*a)[N]` has N.
    """
    matches = (_PARAMETER.search(part.strip()) for part in (_parameters(text, top) or "").split(","))
    return dict(_pointer(named) for named in matches if named is not None)


def _parameters(text: str, top: str) -> str | None:
    """Return the text of the parameters of a function's definition; None where it is not to be seen."""
    plain = _COMMENT.sub(" ", text)
    for match in re.finditer(rf"\b{re.escape(top)}\s*\(", plain):
        end = _closing(plain, match.end())
        if plain[end + 1 :].lstrip().startswith("{"):
            return plain[match.end() : end]
    return None


def _pointer(named: re.Match[str]) -> tuple[str, tuple[str, ...]]:
    name = named["rows"] or named["pointer"] or named["open"]
    return name, tuple(_EXTENT.findall(named["extents"] or named["inner"] or ""))


def _integer_macros(text: str, macros: Mapping[str, int]) -> dict[str, int]:
    """Return the macros of a text that are whole numbers, by name, those that are given among them."""
    known = dict(macros)
    for name, value in _MACRO.findall(_COMMENT.sub(" ", text)):
        number = whole_number(_SUFFIX.sub(r"\1", value), known)
        if number is not None:
            known.setdefault(name, number)
    return known


def _closing(text: str, start: int) -> int:
    """Return the place of the parenthesis that closes the one before `start`; the end where none does."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return len(text)


# ---- frozen collections ----------------------------------------------------------------------------------

FROZEN_FILE = "frozen.json"
"""In the folder of a collection that never changes: the SHA-256 of each kernel's files."""


def freeze_collection(folder: Path) -> None:
    """Write the hashes of a collection once.

    Raises: FileExistsError: it is frozen. ProgramError: a kernel breaks a rule.
    """
    path = folder / FROZEN_FILE
    if path.exists():
        raise FileExistsError(path)
    write_bytes_atomically(path, (json.dumps(_hashes(folder), indent=1) + "\n").encode())


def require_frozen(folder: Path) -> str:
    """Check that a collection is as it was frozen; return the hash of its hashes.

    Raises: ProgramError: a kernel was changed, added or removed.
    """
    path = folder / FROZEN_FILE
    content = read_bounded(path, what="list of hashes", most_bytes=MANIFEST_LIMIT_BYTES, error=ProgramError)
    frozen, present = json.loads(content), _hashes(folder)
    changed = sorted(n for n in frozen.keys() | present.keys() if frozen.get(n) != present.get(n))
    if changed:
        raise ProgramError(f"kernels differ from {path.name}: {', '.join(changed)} ({folder})")
    return content_hash(frozen)


def _hashes(folder: Path) -> dict[str, str]:
    return {f"{kernel.field}/{kernel.name}": kernel.sha256 for kernel in read_collection(folder)}


# ---- features ------------------------------------------------------------------------------------------

_PATTERNS: Mapping[str, str] = {
    "bit-operations": r"<<|>>|(?<!&)&(?![&=])\s*0x|\^",
    "break": r"\bbreak\b",
    "case-table": r"\bstatic\s+const\b|\bconst\s+static\b|\bconst\b[^;()]*\]\s*=\s*\{",
    "comma-or-conditional": r"\?",
    "continue": r"\bcontinue\b",
    "do-while": r"\bdo\b",
    "double": r"\bdouble\b",
    "early-return": r"\breturn\b[^;]*;(?!\s*\})",
    "enum": r"\benum\b",
    "float": r"\bfloat\b",
    "function-macro": r"^[ \t]*#[ \t]*define[ \t]+\w+\(",
    "function-pointer": r"\(\s*\*\s*(?:const\s+)?\w+\s*(?:\[[^\]]*\]\s*)?\)\s*\(",
    "goto": r"\bgoto\b",
    "long": r"\blong\b",
    "main": r"\bmain\s*\(",
    "pointer-walk": r"\*\s*\w+\s*(?:\+\+|--)|\*\s*(?:\+\+|--)\s*\w+",
    "size_t": r"\bsize_t\b",
    "stdint": r"\bu?int(?:_fast|_least)?(?:8|16|32|64)_t\b",
    "struct": r"\bstruct\b",
    "switch": r"\bswitch\b",
    "typedef": r"\btypedef\b",
    "union": r"\bunion\b",
    "unsigned": r"\bunsigned\b|\buint\d+_t\b|\bsize_t\b",
    "while": r"\bwhile\b",
}
_COMPILED = {name.replace("_", "-"): re.compile(text, re.MULTILINE) for name, text in _PATTERNS.items()}
_FUNCTION = re.compile(r"^[A-Za-z_][\w\s*]*\b(\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
_TWO_DIMENSIONS = re.compile(r"\w\s*\[[^\]]*\]\s*\[")
FEATURES = (*sorted(_COMPILED), "helper-function", "two-dimensions")


def c_features(text: str) -> tuple[str, ...]:
    """Return the constructs of C that a text has, of FEATURES, found by words and without a parser."""
    plain = _COMMENT.sub(" ", text)
    own = {name for name, pattern in _COMPILED.items() if pattern.search(plain)}
    functions = _FUNCTION.findall(plain)
    if len([name for name in functions if name != "main"]) > 1:
        own.add("helper-function")
    if _TWO_DIMENSIONS.search(plain):
        own.add("two-dimensions")
    return tuple(name for name in FEATURES if name in own)


def write_features(folder: Path) -> int:
    """Write the constructs of each text into its manifest; return how many manifests changed.

    Raises: ProgramError: a kernel breaks a rule. OSError: a file cannot be written.
    """
    changed = 0
    for path in kernel_files(folder):
        own = c_features(read_kernel(path).text)
        content = json.loads(_manifest_bytes(path))
        if tuple(content.get("features", ())) != own:
            content["features"] = list(own)
            write_bytes_atomically(path, (json.dumps(content, indent=1) + "\n").encode())
            changed += 1
    return changed


# ---- audit ---------------------------------------------------------------------------------------------

SHARED_RUNS = 0.5
"""Share of the runs of 8 tokens that no two kernels may have in common, of the smaller one's."""
RUN_WORDS = 8


def audit_collection(folder: Path, *others: Path) -> list[str]:
    """List what is wrong with a collection, a sentence each: manifests, features, and kernels too much alike.

    Args: others: collections that it must differ from, too.
    """
    problems, kernels = _readable(folder)
    for kernel in kernels:
        problems += _manifest_problems(kernel)
    compared = [*kernels, *(kernel for other in others for kernel in _readable(other)[1])]
    return problems + [
        f"{one.field}/{one.name} and {other.field}/{other.name} share {share:.0%} of their runs of "
        f"{RUN_WORDS} tokens; accepted: less than {SHARED_RUNS:.0%}"
        for one, other, share in alike_pairs(kernels, compared)
    ]


def _readable(folder: Path) -> tuple[list[str], list[WrittenKernel]]:
    problems: list[str] = []
    kernels: list[WrittenKernel] = []
    for path in kernel_files(folder):
        try:
            kernels.append(read_kernel(path))
        except ProgramError as error:
            problems.append(str(error))
    lonely = {p.with_suffix("") for p in folder.glob("*/*.c")} - {
        p.with_suffix("") for p in kernel_files(folder)
    }
    problems += [f"{path.parent.name}/{path.name}.c has no manifest" for path in sorted(lonely)]
    names = [kernel.name for kernel in kernels]
    problems += [
        f"{name} names {names.count(name)} kernels" for name in sorted(set(names)) if names.count(name) > 1
    ]
    return problems, kernels


def _manifest_problems(kernel: WrittenKernel) -> Iterator[str]:
    for size in kernel.manifest.sizes:
        try:
            kernel.content(size)
        except ProgramError as error:
            yield f"{kernel.field}/{kernel.name}, size {size}: {error}"
    if kernel.manifest.features != (own := c_features(kernel.text)):
        declared = ", ".join(kernel.manifest.features)
        yield f"{kernel.field}/{kernel.name}: features {declared}; its text has {', '.join(own)}"
    if not kernel.manifest.tags:
        yield f"{kernel.field}/{kernel.name}: no tags"
    lacking = pointer_parameters(kernel.text, kernel.top).keys() - kernel.manifest.elements.keys()
    if lacking:
        yield f"{kernel.field}/{kernel.name}: no elements of {', '.join(sorted(lacking))}"


def alike_pairs(
    kernels: Sequence[WrittenKernel], compared: Sequence[WrittenKernel]
) -> list[tuple[WrittenKernel, WrittenKernel, float]]:
    """Return pairs of different kernels that share at least SHARED_RUNS of the smaller one's runs."""
    runs = {kernel.sha256: runs_of(kernel.text) for kernel in (*kernels, *compared)}
    pairs: dict[frozenset[str], tuple[WrittenKernel, WrittenKernel, float]] = {}
    for one in kernels:
        for other in compared:
            key = frozenset((one.sha256, other.sha256))
            if len(key) == 1 or key in pairs:
                continue
            common = len(runs[one.sha256] & runs[other.sha256])
            share = common / min(len(runs[one.sha256]), len(runs[other.sha256]))
            if share >= SHARED_RUNS:
                pairs[key] = (one, other, share)
    return list(pairs.values())


def runs_of(text: str) -> set[tuple[str, ...]]:
    """Return the runs of RUN_WORDS tokens of a text, its names and numbers normalised."""
    words = code_words(text)
    return {tuple(words[i : i + RUN_WORDS]) for i in range(max(1, len(words) - RUN_WORDS + 1))}
