"""Judging a variant of the LLM stage: what it takes to be kept.

Cheap checks come first, and nothing of a reply is compiled to native code before the front end has read it
all. A process of its own reads a variant first, with limits of time and memory: a reply of some hundred bytes
can call its functions, or expand its macros, a million times, and the front end and high-level synthesis run
in the process that asks.
"""

from __future__ import annotations

import atexit
import resource
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.sandbox import SandboxError
from pipelines.base.tools import ToolMissing
from pipelines.base.workers import ChildProcess
from pipelines.c import HlsError, preprocess_source, read_interface
from pipelines.c.signature import DataSet, Interface, same_values
from pipelines.cyclemodel import count_cycles, engine_version
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.native import native_version, run_native
from pipelines.programs import (
    CheckLimits,
    ProgramError,
    Verdict,
    ast_hash,
    code_version,
    degeneracy,
    draw_data,
)
from pipelines.schemas import OK, REJECTED, TIMEOUT, TOOL_ERROR, ProgramRow

MEMORY_BYTES = 3 << 30
PROCESSOR_S = 60.0
"""Programs of the suite take some 0.2 s; a slow machine is within this."""


class VariantRejected(ProgramError):
    """A variant is not kept, with the reason."""


class BoundedReader:
    """One process that reads programs, started when it is first needed and again when it had to be ended."""

    def __init__(self, read: Callable[[str, str], None], *, processor_s: float = PROCESSOR_S) -> None:
        self._read = read
        self._processor_s = processor_s
        self._lock = Lock()
        self._child: ChildProcess | None = None

    def excess(self, source: str, top: str) -> str | None:
        """Return the limit that reading a program exceeds, None if it ends, whatever its result.

        Args:   source: a program; top: its function.
        Raises: MachineFault: the machine ended the process, or had no time for it.
        """
        with self._lock:
            child = self._child or self._started()
            try:
                child.send((source, top))
                return child.receive(self._processor_s)
            except TimeoutError as error:
                self.end()
                return str(error)
            except BaseException:
                self.end()
                raise

    def end(self) -> None:
        """End the process, if there is one, whichever signals it ignores."""
        atexit.unregister(self.end)
        if self._child is not None:
            self._child.end()
            self._child = None

    def _started(self) -> ChildProcess:
        """Return the process, ready to read: its start takes no time of a program."""
        self._child = ChildProcess(_serve, self._read)
        atexit.register(self.end)
        try:
            self._child.receive()
        except BaseException:
            self.end()
            raise
        return self._child


def _serve(connection: Connection, read: Callable[[str, str], None]) -> None:
    """Serve requests until the other end is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    connection.send(None)
    while True:
        try:
            source, top = connection.recv()
        except EOFError:
            return
        connection.send(_attempt(read, source, top))


def _attempt(read: Callable[[str, str], None], source: str, top: str) -> str | None:
    try:
        read(source, top)
    except MemoryError:
        return f"more than {MEMORY_BYTES >> 30} GiB"
    except Exception:  # the caller meets it again and names it
        return None
    return None


_CACHE_KIND = "llm_verdict"
_PREPROCESSED_BYTES = 1 << 17
_VERSION = "cae86ccab65309ae06e181b69de688f8eb555062d2db5a4a5ba4f752240d8a99"
"""Raise it when native runs or the sandbox judge a variant in another way; other code has its own version."""


def check_variant(source: str, parent: ProgramRow, limits: CheckLimits, cache: ContentCache) -> Verdict:
    """Judge a variant, or find the verdict of before.

    It must read as C of our subset, differ from its parent, have its parent's interface, pass HLS within the
    bounds, run without undefined behaviour on drawn inputs, and compute in hardware what it does natively.

    Args:    source: text that `program_of_reply` let through.
    Returns: the verdict; only what follows from the arguments is remembered.
    Raises:  ToolMissing: gcc or bubblewrap is not installed. SandboxError: the machine forbids confinement.
    """
    key = content_hash(
        source,
        parent.source,
        parent.top,
        parent.inputs,
        asdict(limits),
        code_version(),
        native_version(),
        engine_version(),
        _VERSION,
    )
    stored = cache.get(_CACHE_KIND, key)
    if stored is not None:
        return Verdict(**stored)
    verdict = _judged(source, parent, limits)
    cache.keep(_CACHE_KIND, key, asdict(verdict), verdict.status)
    return verdict


def _read(source: str, top: str) -> None:
    """Do all that is done with a variant before it is run."""
    ast_hash(source, top)
    read_interface(source, top)
    compile_program(source, top=top, options=HlsOptions())


_READER = BoundedReader(_read)


def _judged(source: str, parent: ProgramRow, limits: CheckLimits) -> Verdict:
    tree_hash: str | None = None
    try:
        _require_bounded(source)
        unknown = _readable(source, parent.top)
        if unknown is not None:
            return unknown
        tree_hash = ast_hash(source, parent.top)
        if tree_hash == parent.ast_hash:
            raise VariantRejected("a variant must differ from its parent, got the same syntax tree")
        interface = read_interface(source, parent.top)
        _require_interface(interface, read_interface(parent.source, parent.top))
        compiled = compile_program(source, top=parent.top, options=HlsOptions())
        _require_area(compiled, limits)
        _require_meaning(compiled)
        verdict = _run(source, compiled, parent, limits)
    except VariantRejected as refused:
        return Verdict(status=REJECTED, reason=str(refused), ast_hash=tree_hash)
    except HlsError as error:
        return Verdict(status=REJECTED, reason=f"high-level synthesis: {error}", ast_hash=tree_hash)
    except RecursionError:
        reason = "expressions and statements must nest less deeply, got nesting too deep"
        return Verdict(status=REJECTED, reason=reason, ast_hash=tree_hash)
    except (ToolMissing, SandboxError, OSError):
        raise
    except Exception as error:  # a fault of an engine costs one variant, not the run, and is tried again
        reason = f"an engine failed: {type(error).__name__}: {error}"
        return Verdict(status=TOOL_ERROR, reason=reason, ast_hash=tree_hash)
    return Verdict(status=verdict.status, reason=verdict.reason, ast_hash=tree_hash, cycles=verdict.cycles)


def _readable(source: str, top: str) -> Verdict | None:
    """Return a verdict on a variant that takes too long to read, or too much memory; it is not remembered."""
    excess = _READER.excess(source, top)
    if excess is None:
        return None
    return Verdict(status=TIMEOUT, reason=f"a variant must be read and scheduled in bounds, got {excess}")


def _require_bounded(source: str) -> None:
    """Expand macros first: a few of them can become megabytes of text.

    Raises: VariantRejected: more than a program of bounded length. HlsError: it does not expand.
    """
    if len(preprocess_source(source, file="program.c").encode()) > _PREPROCESSED_BYTES:
        rule = f"a preprocessed program must be at most {_PREPROCESSED_BYTES} bytes"
        raise VariantRejected(f"{rule}, got more")


def _require_interface(variant: Interface, original: Interface) -> None:
    """Require that the parent's inputs are inputs of the variant."""
    one, other = (
        [(a.name, a.type, a.shape) for a in interface.arguments] for interface in (variant, original)
    )
    if one != other or variant.returns != original.returns:
        names = ", ".join(name for name, _, _ in one) or "no arguments"
        raise VariantRejected(f"a variant must keep its parent's arguments and result, got {names[:200]}")
    if not variant.has_outputs:
        raise VariantRejected("a variant must write an array or return a value, got neither")


def _require_area(compiled: CompiledDesign, limits: CheckLimits) -> None:
    area = compiled.report.estimated_area_um2
    if area > limits.most_area_um2:
        raise VariantRejected(
            f"a design must have at most {limits.most_area_um2:.0f} um2, got an estimate of {area:.0f}"
        )


def _require_meaning(compiled: CompiledDesign) -> None:
    if reason := degeneracy(compiled.function):
        raise VariantRejected(reason)


def _run(source: str, compiled: CompiledDesign, parent: ProgramRow, limits: CheckLimits) -> Verdict:
    """Return the native runs and counted runs on every data set."""
    cycles = 0
    for seed in limits.data_seeds:
        try:
            data = draw_data(compiled.interface, parent.inputs, seed=seed)
        except ProgramError as error:
            return Verdict(status=REJECTED, reason=str(error))
        verdict = _run_on(source, compiled, data, limits)
        if verdict.status != OK:
            return verdict
        cycles = max(cycles, verdict.cycles or 0)
    return Verdict(status=OK, cycles=cycles)


def _run_on(source: str, compiled: CompiledDesign, data: DataSet, limits: CheckLimits) -> Verdict:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        native = run_native(
            source, compiled.interface, data, folder=folder / "native", timeout_s=limits.timeout_s
        )
        if native.status != OK:
            return Verdict(status=native.status, reason=f"native C: {native.reason}")
        (folder / "cycles").mkdir()
        counted = count_cycles(
            compiled,
            data,
            folder=folder / "cycles",
            cycle_limit=limits.most_cycles,
            timeout_s=10 * limits.timeout_s,
        )
    if counted.status == TIMEOUT and "cycle limit" in (counted.reason or ""):
        return Verdict(
            status=REJECTED, reason=f"a design must take at most {limits.most_cycles} cycles, got more"
        )
    if counted.status != OK:
        return Verdict(status=counted.status, reason=f"cycle model: {counted.reason}")
    equal = native.returned == counted.returned and all(
        same_values(native.outputs[name], counted.outputs[name]) for name in native.outputs
    )
    if not equal:
        return Verdict(status=TOOL_ERROR, reason="the cycle model's outputs must equal native C, got others")
    return Verdict(status=OK, cycles=counted.latency_cycles)
