"""Compiling and running a program natively with gcc."""

from __future__ import annotations

import math
import re
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.base.sandbox import (
    MEMORY,
    ConfinedRun,
    Limits,
    SandboxError,
    read_output,
    run_confined,
)
from pipelines.base.tools import PATIENCE, find_tool, run_tool
from pipelines.c.signature import (
    Argument,
    DataSet,
    Interface,
    ScalarType,
    StaticObject,
    canonical_array,
    canonical_values,
    same_values,
)
from pipelines.c.text.headers import INCLUDE_FOLDER, LIBRARY_FILE, header_options, is_library_needed
from pipelines.schemas import OK, REJECTED, TIMEOUT, TOOL_ERROR

TOP_SYMBOL = "simfoundry_top"
"""What the top function is renamed to: its own name may be main or that of a library function."""

MAIN_SYMBOL = "simfoundry_main_of_the_program"
"""What a main function of the program is renamed to: the harness has the one that runs."""

_RESULT_BYTES = 8
_C_NAMES = {8: "char", 16: "short", 32: "int", 64: "long long"}


def table_text(interface: Interface) -> str:
    """Return C text of arguments.h: the table of arguments."""
    rows = [_table_row(a) for a in interface.arguments] or ["{0, 0, 0}"]
    return (
        f"#define ARGUMENT_COUNT {len(interface.arguments)}\n"
        f"static const struct argument arguments[] = {{{', '.join(rows)}}};\n"
    )


def unit_text(interface: Interface) -> str:
    """Return C text of unit.c: the program, and after it the call of its top function, which may be static.

    Types are spelled without headers, since what follows the program can rely on none. Objects of static
    storage get their values before the call; those that are written are read after it.
    """
    indexed = list(enumerate(interface.arguments))
    values = ", ".join(_value(i, a) for i, a in indexed if a.static is None)
    call = f"{TOP_SYMBOL}({values});"
    if interface.returns is not None:
        call = f"*({_c_name(interface.returns)} *)simfoundry_result = {call}"
    objects = [(i, a, a.static) for i, a in indexed if a.static is not None]
    copies = {i: (_address(i, static), f"simfoundry_values[{i}]", _bytes(a)) for i, a, static in objects}
    before = [f"__builtin_memcpy({own}, {value}, {size});" for own, value, size in copies.values()]
    after = [
        f"__builtin_memcpy({value}, {own}, {size});"
        for i, (own, value, size) in copies.items()
        if interface.arguments[i].written
    ]
    lines = ["(void)simfoundry_values;", "(void)simfoundry_result;", *before, call, *after]
    return (
        '#include "kernel.c"\n'
        + "".join(f"extern void *const {_pointer(i)};\n" for i, _, s in objects if s.end is not None)
        + "__attribute__((externally_visible))\n"
        + "void simfoundry_call(void **simfoundry_values, void *simfoundry_result)\n{\n"
        + "".join(f"    {line}\n" for line in lines)
        + "}\n"
    )


def kernel_text(source: str, interface: Interface) -> str:
    """Return C text of kernel.c: the program; after each static variable of a function that is an argument
    stands a pointer to it with a known symbol.
    """
    ends = [
        (a.static.end, i, a.static.name)
        for i, a in enumerate(interface.arguments)
        if a.static is not None and a.static.end is not None
    ]
    for end, index, name in sorted(ends, reverse=True):
        symbol = _pointer(index)
        pointer = f'static void *const {symbol} __asm__("{symbol}") __attribute__((used)) = (void *)&{name};'
        source = f"{source[:end]} {pointer}{source[end:]}"
    return source


def _pointer(index: int) -> str:
    return f"simfoundry_object_{index}"


def _address(index: int, static: StaticObject) -> str:
    return f"(void *)&{static.name}" if static.end is None else _pointer(index)


def pack_inputs(interface: Interface, data: DataSet) -> bytes:
    """Return the bytes of inputs.bin: every argument in order, C order, in its own type."""
    return b"".join(
        np.ascontiguousarray(data[a.name], dtype=a.type.dtype).tobytes() for a in interface.arguments
    )


def unpack_outputs(interface: Interface, content: bytes) -> tuple[DataSet, int | None]:
    """Read written arrays by name, and the top function's result, from outputs.bin.

    A floating result is given as its bits. What is not a number is the canonical one everywhere.
    """
    outputs: DataSet = {}
    offset = _RESULT_BYTES
    for argument in _written(interface):
        flat = np.frombuffer(content, argument.type.dtype, argument.element_count, offset)
        outputs[argument.name] = canonical_array(argument, flat.reshape(argument.shape).copy())
        offset += flat.nbytes
    if interface.returns is None:
        return outputs, None
    kind = interface.returns
    result = canonical_values(np.frombuffer(content, kind.dtype, 1))
    return outputs, int(result.view(f"u{kind.width_bits // 8}" if kind.floating else kind.dtype)[0])


def output_bytes(interface: Interface) -> int:
    """Return the length of outputs.bin."""
    return _RESULT_BYTES + sum(_bytes(a) for a in _written(interface))


def _written(interface: Interface) -> tuple[Argument, ...]:
    return tuple(a for a in interface.arrays if a.written)


def _bytes(argument: Argument) -> int:
    return argument.element_count * argument.type.dtype.itemsize


def _table_row(argument: Argument) -> str:
    row_bytes = prod(argument.shape[1:]) * argument.type.dtype.itemsize if argument.is_array else 0
    is_output = int(argument.is_array and argument.written)
    return f"{{{_bytes(argument)}, {row_bytes}, {is_output}}}"


def _value(index: int, argument: Argument) -> str:
    if argument.is_array:
        return f"simfoundry_values[{index}]"
    return f"*({_c_name(argument.type)} *)simfoundry_values[{index}]"


def _c_name(kind: ScalarType) -> str:
    if kind.floating:
        return kind.c_name
    return f"{'signed' if kind.signed else 'unsigned'} {_C_NAMES[kind.width_bits]}"


# Line markers in a program may name other files than kernel.c: its local headers.
_COMPILE_ERROR = re.compile(r"^([^:\n]+):(\d+):(?:\d+: (?:fatal )?error| Error): (.*)$", re.MULTILINE)
_OUTSIDE = ("unit.c", "harness.c", "library.c")
_LINK_ERROR = re.compile(r"(undefined reference to|multiple definition of) [`'](\w+)'")
_IMPLICIT = re.compile(rf"implicit declaration of function [`'‘]{TOP_SYMBOL}['’]")
"""How gcc 14 and newer say that the top function is missing, before linking."""
_RUNTIME_ERROR = re.compile(r"^([^:\n]+):(\d+):\d+: runtime error: (.*)$", re.MULTILINE)
_ADDRESS_ERROR = re.compile(r"ERROR: AddressSanitizer: (\S+)(?: on (?:unknown )?address (0x[0-9a-f]+))?")
_ACCESS = re.compile(r"^(READ|WRITE) of size|caused by a (READ|WRITE) memory access", re.MULTILINE)
_FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ in \S+ ([^:\n]+):(\d+)")
_MARKER = re.compile(r'^[ \t]*#[ \t]*(?:line[ \t]+)?\d+[ \t]+"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_LINE_MARKER = re.compile(r'[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?')
_PLACE = re.compile(r"^(\d{1,6}) ([0-9a-f]{1,16}) ([0-9a-f]{1,16})$", re.MULTILINE | re.ASCII)
_REASON_CHARACTERS = 300


def compile_rejection(messages: str, top: str) -> str | None:
    """Tell why gcc rejected the program, or None when the program is not at fault."""
    error = _COMPILE_ERROR.search(messages)
    if error and _IMPLICIT.match(error[3]):
        return f"C does not define the top function {top} (kernel.c)"
    if error:
        return f"C must compile with gcc -std=c11, got {_cut(error[3])} ({_location(error[1], error[2])})"
    error = _LINK_ERROR.search(messages)
    if error and error[2] == TOP_SYMBOL:
        return f"C does not define the top function {top} (kernel.c)"
    if error:
        return f"C must be complete in one file, got {error[1]} {error[2]} (kernel.c)"
    return None


def program_files(source: str) -> frozenset[str]:
    """Return the names of a program's files in sanitizer messages: its own, and of its line markers."""
    return frozenset(("kernel.c", *_MARKER.findall(source)))


def early_end(messages: str, files: frozenset[str], source: str) -> str | None:
    """Return the call that ends a program before its top function returns, with line and text, if any."""
    end = _END.search(messages)
    trap = _ADDRESS_ERROR.search(messages)
    if end is None and (trap is None or trap[1] != "ILL"):
        return None
    frame = _frame_of(messages, files) or ("unit.c", "0")
    call = "__builtin_trap" if end is None else end[1]
    return f"a call of {call} ({_location(*frame)}){_quoted(source, *frame)}"


def _frame_of(messages: str, files: frozenset[str]) -> tuple[str, str] | None:
    """Return the file and line of the innermost function of the program or of the harness."""
    frames = ((name.removeprefix("/box/"), line) for name, line in _FRAME.findall(messages))
    return next((f for f in frames if f[0] in _OUTSIDE or f[0] in files), None)


def undefined_behaviour(
    messages: str,
    places: str,
    interface: Interface,
    files: frozenset[str] = frozenset(("kernel.c",)),
    source: str = "",
) -> str | None:
    """Return the undefined behaviour that a sanitizer reports, with its line and text; None without any.

    Args:
        messages: standard error of the checked program.
        places: content of arrays.txt: addresses of each array and its guards.
        interface: names the arrays.
        files: of the program; a fault inside one of the project's headers has the line of the call.
        source: the program's text.
    """
    error = _RUNTIME_ERROR.search(messages)
    frame = _frame_of(messages, files)
    if error:
        own = error[1].startswith(f"{INCLUDE_FOLDER}/") and frame is not None and frame[0] in files
        place = frame if own and frame is not None else (error[1], error[2])
        return f"{_cut(error[3])} ({_location(*place)}){_quoted(source, *place)}"
    error = _ADDRESS_ERROR.search(messages)
    if not error or frame is None or frame[0] in _OUTSIDE:
        return None  # outside the program: a fault of the harness or of the sanitizer
    address = int(error[2], 16) if error[2] else None
    fault = _address_fault(error[1], _array_at(address, places, interface), messages)
    return f"{fault} ({_location(*frame)}){_quoted(source, *frame)}"


_QUOTED_CHARACTERS = 80


def _quoted(source: str, file: str, line: str) -> str:
    """Return a line of a program, by the file and number of its line markers."""
    at_file, at_line = "kernel.c", 1
    for content in source.split("\n"):
        marker = _LINE_MARKER.match(content)
        if marker is not None:
            at_line, at_file = int(marker[1]), marker[2] or at_file
            continue
        if at_line == int(line) and at_file == file:
            text = " ".join(content.split())
            cut = text[:_QUOTED_CHARACTERS]
            return f", in `{cut}{'...' if cut != text else ''}`" if text else ""
        at_line += 1
    return ""


_REPAIRS = (
    ("integer overflow", "compute in an unsigned type"),
    ("negation of", "compute in an unsigned type"),
    ("shift", "shift an unsigned number by less than its width"),
    ("division by zero", "test the divisor first"),
    ("outside the range of representable values", "limit the number before it is converted"),
    ("out of bounds", "keep the index below the size"),
    ("insufficient space", "keep the pointer inside its array"),
    ("misaligned", "copy the bytes with memcpy"),
    ("null pointer", "test the pointer first"),
    ("do not fit the stack", "make them static"),
)
"""What to write instead, by a part of the sanitizer's message."""


def repair_of(reason: str) -> str | None:
    """Suggest what to write instead of undefined behaviour, by the reason of a rejected run, if known."""
    reason = reason.split(", in `", 1)[0]
    if "defined behaviour" not in reason:
        return None
    return next((text for part, text in _REPAIRS if part in reason), None)


def _location(file: str, line: str) -> str:
    """Return the location of a fault; without a line when it is in the generated call or in assembly."""
    return "kernel.c" if file in _OUTSIDE or file.endswith(".s") else f"{file}:{line}"


def _cut(message: str) -> str:
    """Return a message of a tool, cut because it may quote long parts of a program."""
    return message.strip()[:_REASON_CHARACTERS]


def _address_fault(fault: str, array: str | None, messages: str) -> str:
    if fault == "stack-overflow":
        return "local arrays that do not fit the stack"
    access_line = _ACCESS.search(messages)
    access = {"READ": "reading", "WRITE": "writing"}.get(
        (access_line[1] or access_line[2]) if access_line else ""
    )
    verb = access or "accessing"
    return f"index out of bounds {verb} {array}" if array else f"{fault} {verb} memory"


def _array_at(address: int | None, places: str, interface: Interface) -> str | None:
    """Return the array around an address; None when the program has overwritten the list of addresses."""
    if address is None:
        return None
    for index, first, last in _PLACE.findall(places):
        if int(first, 16) <= address <= int(last, 16) and int(index) < len(interface.arguments):
            return interface.arguments[int(index)].name
    return None


COMPILE_TIMEOUT_S = 60.0
COMPILE_LIMITS = Limits(
    wall_s=PATIENCE * COMPILE_TIMEOUT_S,
    cpu_s=math.ceil(COMPILE_TIMEOUT_S),
    memory_bytes=8 << 30,
    address_bytes=8 << 30,
    processes=8,  # gcc, cc1, as, collect2, ld and its plugin
)
MEMORY_BYTES = 4 << 30
PLACES_BYTES = 1 << 16
"""Maximum length of arrays.txt, which has one line per argument."""

_HARNESS = Path(__file__).parent / "harness.c"
# -no-pie: with 32 random bits of address space a position-independent executable can be loaded
# where AddressSanitizer keeps its heap, and then crashes before main.
_COMMON = ("-std=c11", "-O1", "-w", "-fno-pie", "-no-pie")
# Arithmetic as written: no fused multiply-add, no extended precision, no built-in functions of the C
# library; -fno-math-errno makes a square root one instruction. Headers are the project's own.
_PROGRAM = (
    "-ffp-contract=off",
    "-fexcess-precision=standard",
    "-fno-builtin",
    "-fno-math-errno",
    # Functions that the top function does not reach may call what no file defines.
    "-ffunction-sections",
    "-fdata-sections",
    "-Wl,--gc-sections",
    "-fwhole-program",  # gcc drops them before it checks and optimises them
)
_CHECKED = (
    "-g",
    "-fsanitize=undefined,address,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-ftrivial-auto-var-init=pattern",
    "-Wl,--wrap=exit,--wrap=_Exit,--wrap=abort",  # see harness.c
)
_END = re.compile(r"^simfoundry: a call of (\w+)$", re.MULTILINE)
_PLAIN = ("-ftrivial-auto-var-init=zero",)
_SANITIZER_OPTIONS = "detect_leaks=0:color=never:disable_coredump=1:handle_sigill=1"
_FILE_SLACK_BYTES = 1 << 20  # arrays.txt, and room to detect excess output


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NativeRun:
    """Results of a native run, or why there are none.

    Attributes:
        status: ok, rejected (undefined behaviour, or not C), timeout or tool_error.
        reason: one line; None when ok.
        outputs: the written arrays by name; empty unless ok.
        returned: result of the top function, of a floating one its bits; None when void or not ok.
        wall_s: time of its compilations and runs in seconds; of several data sets the first one compiles.
        tool_version: of gcc.
    """

    status: str
    reason: str | None = None
    outputs: DataSet = field(default_factory=dict[str, NDArray[Any]])
    returned: int | None = None
    wall_s: float
    tool_version: str


class _Ended(Exception):
    """The run ended early, with a status and a reason."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def native_version() -> str:
    """Return the version of gcc, as it names itself.

    Raises: ToolMissing: gcc is not installed.
    """
    return _version_of(_gcc())


def run_native(
    source: str, interface: Interface, data: DataSet, *, folder: Path, timeout_s: float = 20
) -> NativeRun:
    """Compile a program with gcc and run it on a data set; see `run_native_sets`."""
    return run_native_sets(source, interface, [data], folder=folder, timeout_s=timeout_s)[0]


def run_native_sets(
    source: str,
    interface: Interface,
    data_sets: Sequence[DataSet],
    *,
    folder: Path,
    timeout_s: float = 20,
    gcc_shifts: bool = False,
) -> list[NativeRun]:
    """Compile a program once with gcc and run it on data sets: the reference of every design.

    It is compiled and run confined (pipelines.base.sandbox), so it may be untrusted. Each data set has
    processes of its own.

    It runs twice. First with the address and undefined-behaviour sanitizers and its automatic
    variables filled with a pattern: undefined behaviour rejects the program. Then plainly with
    those variables zero: a different result means that it depends on uninitialised variables, which
    also rejects it.

    Args:
        source: complete C text.
        interface: of the source's top function.
        data_sets: each a value for every argument; not changed.
        folder: build folder, created if absent; private to this call.
        timeout_s: limit of each run in seconds of processor time.
        gcc_shifts: a left shift of a negative number, and one into the sign, have the value that gcc
            defines; else they are undefined behaviour, as in C11.

    Returns: per data set outputs and result, or the status and reason for which there are none.
    Raises:  ToolMissing: gcc or bubblewrap is not installed. KeyError: data lacks an argument.
    """
    version = _version_of(_gcc())
    session = _Session(
        source=source, folder=folder, interface=interface, timeout_s=timeout_s, gcc_shifts=gcc_shifts
    )
    return [_run_set(session, pack_inputs(interface, data), version) for data in data_sets]


def _run_set(session: _Session, inputs: bytes, version: str) -> NativeRun:
    session.wall_s = 0.0
    try:
        outputs, returned = session.result(inputs)
    except _Ended as end:
        status, reason = end.status, end.reason
    except SandboxError as error:
        status, reason = TOOL_ERROR, str(error)
    except OSError as error:
        status, reason = TOOL_ERROR, f"cannot run gcc in {session.folder}: {error}"
    else:
        return NativeRun(
            status=OK, outputs=outputs, returned=returned, wall_s=session.wall_s, tool_version=version
        )
    return NativeRun(status=status, reason=reason, wall_s=session.wall_s, tool_version=version)


@dataclass(slots=True, kw_only=True)
class _Session:
    """One program in one folder; adds up the time of its tools.

    Attributes:
        built: programs compiled so far, each with what ended its compilation.
    """

    source: str
    folder: Path
    interface: Interface
    timeout_s: float
    gcc_shifts: bool = False
    wall_s: float = 0.0
    built: dict[str, _Ended | None] = field(default_factory=dict[str, "_Ended | None"])

    def result(self, inputs: bytes) -> tuple[DataSet, int | None]:
        """Return the outputs and result on which both builds agree."""
        self._build_once("harness")
        self._build_once("checked")
        self._run_checked(inputs)
        checked = self._outputs("checked")
        self._build_once("plain")
        self._run_plain(inputs)
        plain = self._outputs("plain")
        self._require_agreement(checked, plain)
        return unpack_outputs(self.interface, plain)

    def _build_once(self, name: str) -> None:
        """Compile the harness or one of the two programs, unless that was tried."""
        if name not in self.built:
            try:
                self._compile_named(name)
            except _Ended as end:
                self.built[name] = end
            else:
                self.built[name] = None
        end = self.built[name]
        if end is not None:
            raise _Ended(end.status, end.reason)

    def _compile_named(self, name: str) -> None:
        if name == "harness":
            table = {"arguments.h": table_text(self.interface).encode("ascii")}
            harness = ("-c", str(_HARNESS), "-I.", "-o", "harness.o")
            self._compile("harness", harness, table, readable=(_HARNESS,))
            return
        unit = {
            "kernel.c": kernel_text(self.source, self.interface).encode(),
            "unit.c": unit_text(self.interface).encode("ascii"),
        }
        options = _CHECKED if name == "checked" else _PLAIN
        if name == "checked" and self.gcc_shifts:
            options = (*options, "-fno-sanitize=shift-base")
        self._compile(name, (*options, *self._kernel(), "-o", name), unit | self._library())

    def _library(self) -> dict[str, bytes]:
        """Return the functions of the headers, for a program that only declares them."""
        if not is_library_needed(self.source):
            return {}
        weak = "#define static __attribute__((weak, externally_visible))\n#define inline\n"
        return {"library.c": f"{weak}{LIBRARY_FILE.read_text()}".encode("ascii")}

    def _kernel(self) -> tuple[str, ...]:
        sources = ("unit.c", "library.c") if is_library_needed(self.source) else ("unit.c",)
        names = [f"-D{self.interface.top}={TOP_SYMBOL}"]
        if self.interface.top != "main":
            names.append(f"-Dmain={MAIN_SYMBOL}")
        return (*_PROGRAM, *header_options(self.source), *names, *sources, str(self._object))

    @property
    def _object(self) -> Path:
        return self._build("harness") / "harness.o"

    def _build(self, name: str) -> Path:
        return self.folder.absolute() / f"build_{name}"

    def _run_folder(self, name: str) -> Path:
        return self.folder.absolute() / f"run_{name}"

    def _confined(
        self,
        argv: Sequence[str],
        folder: Path,
        *,
        readable: Sequence[Path],
        files: Mapping[str, bytes],
        limits: Limits,
    ) -> ConfinedRun:
        """Return one confined run in a folder that is emptied first."""
        if folder.exists():
            shutil.rmtree(folder)
        run = run_confined(
            argv,
            folder=folder,
            readable=readable,
            files=files,
            limits=limits,
            environment={
                "ASAN_OPTIONS": _SANITIZER_OPTIONS,
                "UBSAN_OPTIONS": "print_stacktrace=1:color=never",
                "TMPDIR": ".",
            },
        )
        self.wall_s += run.wall_s
        if run.machine_fault is not None:
            raise _Ended(TOOL_ERROR, f"{Path(argv[0]).name} did not end by itself: {run.machine_fault}")
        return run

    def _compile(
        self, name: str, arguments: Sequence[str], files: Mapping[str, bytes], readable: Sequence[Path] = ()
    ) -> None:
        if not readable:
            readable = (INCLUDE_FOLDER, self._object)
        argv = (_gcc(), *_COMMON, *arguments)
        run = self._confined(argv, self._build(name), readable=readable, files=files, limits=COMPILE_LIMITS)
        if run.timed_out:
            raise _Ended(TIMEOUT, f"gcc ran past its limit of {COMPILE_TIMEOUT_S:g} s")
        if run.stopped_by is not None:
            raise _Ended(REJECTED, f"compilation exceeds the limits of gcc: too much {run.stopped_by}")
        if run.returncode != 0:
            rejection = compile_rejection(run.stderr, self.interface.top)
            if rejection and name != "harness":
                raise _Ended(REJECTED, rejection)
            raise _Ended(TOOL_ERROR, f"gcc failed: {run.last_words()}")

    def _run(self, name: str, inputs: bytes, *, address_bytes: int | None) -> ConfinedRun:
        file_bytes = max(len(inputs), output_bytes(self.interface)) + _FILE_SLACK_BYTES
        limits = Limits(
            wall_s=PATIENCE * self.timeout_s,
            cpu_s=math.ceil(self.timeout_s),
            memory_bytes=MEMORY_BYTES,
            address_bytes=address_bytes,
            file_bytes=file_bytes,
            folder_bytes=2 * file_bytes,
        )
        program = self._build(name) / name
        run = self._confined(
            (str(program),),
            self._run_folder(name),
            readable=(program,),
            files={"inputs.bin": inputs},
            limits=limits,
        )
        if run.timed_out:
            raise _Ended(TIMEOUT, f"native C ran past its limit of {self.timeout_s:g} s")
        if run.stopped_by == MEMORY:
            raise _Ended(REJECTED, f"native C uses more than {MEMORY_BYTES >> 30} GiB of memory")
        if run.stopped_by is not None:
            raise _Ended(REJECTED, f"native C exceeds its limits: too much {run.stopped_by} (kernel.c)")
        return run

    def _run_checked(self, inputs: bytes) -> None:
        run = self._run("checked", inputs, address_bytes=None)
        if run.returncode == 0:
            return
        files = program_files(self.source)
        end = early_end(run.stderr, files, self.source)
        if end is not None:
            raise _Ended(REJECTED, f"C must return from its top function, got {end}")
        reason = undefined_behaviour(run.stderr, self._places(), self.interface, files, self.source)
        if reason:
            raise _Ended(REJECTED, f"C must have defined behaviour, got {reason}")
        raise _Ended(TOOL_ERROR, f"the checked program failed: {_ending(run)}")

    def _places(self) -> str:
        """Return the addresses of the arrays; empty when the program left none."""
        try:
            content = read_output(self._run_folder("checked") / "arrays.txt", most_bytes=PLACES_BYTES)
        except SandboxError:
            return ""
        return content.decode("ascii", errors="replace")

    def _run_plain(self, inputs: bytes) -> None:
        run = self._run("plain", inputs, address_bytes=MEMORY_BYTES)
        if run.returncode is not None and run.returncode < 0:
            reason = f"got {_signal_name(run.returncode)} when they start as zero (kernel.c)"
            raise _Ended(REJECTED, f"result must not depend on uninitialised variables, {reason}")
        if run.returncode != 0:
            raise _Ended(TOOL_ERROR, f"the plain program failed: {_ending(run)}")

    def _outputs(self, name: str) -> bytes:
        size = output_bytes(self.interface)
        try:
            content = read_output(self._run_folder(name) / "outputs.bin", most_bytes=size)
        except SandboxError as error:
            raise _Ended(REJECTED, f"C must return from its top function, {error}") from error
        if len(content) != size:
            raise _Ended(TOOL_ERROR, f"outputs must be {size} bytes, got {len(content)}")
        return content

    def _require_agreement(self, checked: bytes, plain: bytes) -> None:
        first, second = (unpack_outputs(self.interface, c) for c in (checked, plain))
        different = [n for n in first[0] if not same_values(first[0][n], second[0][n])]
        if not different and first[1] == second[1]:
            return
        named = ", ".join(different) or "the returned value"
        raise _Ended(
            REJECTED,
            "result must not depend on uninitialised variables, "
            f"got different outputs in {named} when they start otherwise (kernel.c)",
        )


def _ending(run: ConfinedRun) -> str:
    if run.returncode is not None and run.returncode < 0:
        return run.last_words()
    return f"exit status {run.returncode}: {run.last_words()}"


def _signal_name(returncode: int) -> str:
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"


def _gcc() -> str:
    return find_tool("gcc", "gcc")


@cache
def _version_of(gcc: str) -> str:
    run = run_tool((gcc, "--version"), folder=Path(gcc).parent, timeout_s=COMPILE_TIMEOUT_S)
    return run.stdout.splitlines()[0] if run.stdout else "unknown"
