"""`simfoundry label`: programs through HLS, simulation and synthesis, and their designs as files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.label_settings import default_label_settings, label_context, label_options
from assets.settings import Settings
from assets.user_programs import argument_sizes, read_directives, read_user_program
from pipelines.base.identity import text_sha256
from pipelines.c import HlsError, read_interface
from pipelines.c.signature import DataSet
from pipelines.dataset.labelling import (
    LabelContext,
    LabelledDesign,
    label_design,
    liberty_name,
    read_unit_limits,
    require_tools,
    rtl_of,
)
from pipelines.hls import TOOL, HlsOptions, TransformOptions, compile_program, options_of
from pipelines.hls.gantt import schedule_drawing, schedule_entries
from pipelines.native import repair_of
from pipelines.programs import ProgramError, load_data, program_from_file
from pipelines.schemas import OK, REJECTED, TIMEOUT, DesignRow, ProgramRow, write_bytes_atomically
from pipelines.schemas.timing import timing_of
from pipelines.silicon.synthesis import Target, find_liberty
from simfoundry.commands.aligned import aligned_lines
from simfoundry.questions import LabelQuestion, is_text

IDENTITY_DIGITS = 8
TEXT_FILE = "program.c"
"""Name of a program that is given as text."""


def require_folder(folder: Path) -> None:
    """Make a folder for reports.

    Raises: FoundryError: it is a file, or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        got = "a file" if folder.exists() else error.strerror
        raise FoundryError(
            f"a report folder must be a folder that can be written, got {got} ({folder})"
        ) from error


def write_report(folder: Path, program: ProgramRow, design: DesignRow, settings: Settings) -> list[str]:
    """Write the files of a design: `.v`, and of a design of the project's own engine `.json` and `.svg`.

    Args:    folder: exists.
    Returns: paths of the files; none when there is no design.
    Raises:  HlsError: the design cannot be made again. OSError: not writable.
    """
    if design.status != OK:
        return []
    paths: list[str] = []
    for suffix, text in _contents(program, design, settings).items():
        path = folder / f"{_stem(program, design)}.{suffix}"
        write_bytes_atomically(path, text.encode())
        path.chmod(0o644)  # a temporary file is private; a report is for everyone
        paths.append(str(path))
    return paths


def _stem(program: ProgramRow, design: DesignRow) -> str:
    """Return program, tool and configuration; the digits tell directives, clocks and versions apart."""
    delay = f"delay{design.memory_read_delay_cycles}"
    return f"{program.name}-{design.tool}-{delay}-{design.design_id[:IDENTITY_DIGITS]}"


def _contents(program: ProgramRow, design: DesignRow, settings: Settings) -> dict[str, str]:
    """Return the text of each file by suffix."""
    if design.tool != TOOL:
        return {"v": rtl_of(program, design, label_context(settings)).verilog}
    compiled = compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )
    verilog_sha256 = text_sha256(compiled.verilog)
    if verilog_sha256 != design.rtl_sha256:
        raise HlsError(f"a design must compile to the Verilog {design.rtl_sha256}", verilog_sha256)
    row = {k: v for k, v in asdict(design).items() if not k.endswith("_wall_s")}
    report = {"program": program.name, "top": program.top, "design": row}
    blocks = schedule_entries(compiled.scheduled)
    return {
        "v": compiled.verilog,
        "json": json.dumps({**report, "blocks": blocks}, indent=1) + "\n",
        "svg": schedule_drawing(compiled.scheduled),
    }


TARGETS = ("cycles", "area", "power")
"""What a label has: `area` with delay and leakage; power needs the mapped netlist."""

STEPS = {
    "native": "native C (two programs, each at most {:g} s of processor time)",
    "cycle_model": "cycles and outputs",
    "verilator": "audit of the Verilog",
    "synthesis": "logic synthesis",
    "power": "power",
}
"""What each tool does, in words."""


def chosen_targets(targets: Sequence[str], without: Sequence[str]) -> tuple[str, ...]:
    """Return the targets that are computed.

    Args:    targets: those asked for; none for all. without: those left out.
    Raises:  FoundryError: an unknown target.
    """
    for name in (*targets, *without):
        if name not in TARGETS:
            raise FoundryError(f"unknown target: {name}; accepted: {', '.join(TARGETS)}")
    return tuple(t for t in TARGETS if t in (targets or TARGETS) and t not in without)


HEAD = ("file", "tool", "status", "cycles", "area_um2", "delay_ns", "slack_ns", "timing_met", "reason")
REASON_WIDTH = 80


def answer_label(question: LabelQuestion) -> dict[str, Any]:
    """Label C text, a C file, or every C file under a folder, under one configuration with each tool.

    Returns: of a program and one tool its rows of designs, directive_outcomes, labels and runs, as JSON
             values; else the same for each file, in order of path, and tool, in the order asked for, with
             counts by status. A file of a folder that is no program is an entry with its reason.
    Raises:  ProgramError, HlsError, SynthesisError, FoundryError: an input is not acceptable.
             LabellingError, ToolMissing: a tool is unknown or not installed; nothing was begun.
    """
    labeller = _Labeller.of(question)
    path = Path(TEXT_FILE if is_text(question.source) else question.source)
    if not path.is_dir():
        entries = labeller.entries(path)
        if len(entries) == 1:
            return {name: value for name, value in entries[0].items() if name != "file"}
    else:
        files = sorted(p for p in path.rglob("*.c") if not p.is_dir())  # a pipe is an entry, too
        if not files:
            raise FoundryError(f"no C files in folder: {path}")
        labeller = replace(labeller, siblings=True)
        entries = [entry for file in files for entry in labeller.entries_or_reason(file)]
    counts = Counter(str(entry["label"]["status"]) for entry in entries)
    return {"files": entries, "counts": dict(sorted(counts.items()))}


def answer_table(answer: Mapping[str, Any], path: Path) -> str:
    """Return the answer of `answer_label` as a table, one line per file and tool.

    Args: path: of the question; cycles are counted on the first data set.
    """
    entries: Sequence[Mapping[str, Any]] = answer.get("files", [{"file": str(path), **answer}])
    return "\n".join(aligned_lines([HEAD, *(_cells(entry) for entry in entries)]))


def _cells(entry: Mapping[str, Any]) -> list[str]:
    label: Mapping[str, Any] = entry["label"]
    runs: Sequence[Mapping[str, Any]] = entry.get("runs", [])
    reason = " ".join(str(label["reason"] or "").split())
    cells = {
        "file": entry["file"],
        "tool": entry.get("design", {}).get("tool"),
        "status": label["status"],
        "cycles": runs[0]["latency_cycles"] if runs else None,
        "area_um2": label.get("area_um2"),
        **{name: _two_digits(label.get(name)) for name in ("delay_ns", "slack_ns")},
        "timing_met": {None: None, True: "yes", False: "no"}[label.get("timing_met")],
        "reason": reason if len(reason) <= REASON_WIDTH else reason[: REASON_WIDTH - 1] + "…",
    }
    return ["" if cells[name] is None else str(cells[name]) for name in HEAD]


def _two_digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _unit_limits(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    try:
        return read_unit_limits(texts)
    except ValueError as error:
        raise FoundryError(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labeller:
    """Labels files under one configuration.

    Attributes:
        targets: of `TARGETS`, those that are computed; cycles always.
        siblings: files of the same folder define what a file calls and lacks.
    """

    question: LabelQuestion
    targets: tuple[str, ...]
    target: Target
    configuration: HlsOptions
    settings: Settings
    siblings: bool = False

    @classmethod
    def of(cls, question: LabelQuestion) -> _Labeller:
        require_tools(question.tools)
        options = question.options
        target = Target(liberty=find_liberty(options.liberty), clock_period_ns=options.clock_ns)
        configuration = HlsOptions(
            memory_read_delay_cycles=options.memory_delay,
            memory_write_delay_cycles=(
                options.memory_delay if options.write_delay is None else options.write_delay
            ),
            directives=read_directives(options.directives),
            clock_period_ns=options.clock_ns,
            liberty=liberty_name(target),
            transforms=TransformOptions(unsafe_math=options.unsafe_math),
            unit_limits=_unit_limits(options.limit_texts),
        )
        settings = default_label_settings(find_deployment())
        if question.report is not None:
            require_folder(Path(question.report))
        return cls(
            question=question,
            targets=chosen_targets(question.targets, question.without),
            target=target,
            configuration=configuration,
            settings=settings,
        )

    def entries(self, file: Path) -> list[dict[str, Any]]:
        self.announce(file, "high-level synthesis")
        source = self.question
        if self.siblings:
            source = replace(
                source, include=(file.parent, *source.include), others=(*source.others, file.parent)
            )
        text = str(source.source) if is_text(source.source) else None
        program = read_user_program(file, source.top, options=source, text=text)
        values = self.question.data
        data = None if values is None else _data(program, file, values)
        return [
            {"file": str(file), **self.label(file, program, tool, data)}
            for tool in dict.fromkeys(self.question.tools)
        ]

    def announce(self, file: Path, tool: str) -> None:
        if self.question.on_step is not None:
            limit_s = label_options(self.settings).native_timeout_s
            self.question.on_step(file, STEPS.get(tool, tool).format(limit_s))

    def _context(self, file: Path) -> LabelContext:
        """Return the context of one file, with the targets that are asked for."""
        context = label_context(self.settings)
        targets = self.targets
        mapped = "area" in targets or "power" in targets
        options = replace(context.options, mapped=mapped, power="power" in targets)
        return replace(context, target=self.target, options=options, on_tool=partial(self.announce, file))

    def label(self, file: Path, program: ProgramRow, tool: str, data: DataSet | None) -> dict[str, Any]:
        labelled = label_design(program, self.configuration, self._context(file), tool=tool, data=data)
        ranges: dict[str, Any] = {}
        if data is None and is_due_to_values(labelled):
            ranges = non_negative_ranges(program)
            if ranges:
                inputs = json.dumps(json.loads(program.inputs) | ranges)
                other = program_from_file(file, top=program.top, source=program.source, inputs=inputs)
                again = label_design(other, self.configuration, self._context(file), tool=tool)
                ranges = ranges if again.label.status == OK else {}
                program, labelled = (other, again) if ranges else (program, labelled)
        label = replace(labelled.label, reason=explained_reason(labelled, drawn=data is None))
        entry: dict[str, Any] = {
            "design": asdict(labelled.design),
            "directive_outcomes": [asdict(outcome) for outcome in labelled.outcomes],
            "label": asdict(label) | timing_of(labelled.design.clock_period_ns, label.delay_ns),
            "runs": [asdict(run) for run in labelled.runs],
        }
        if ranges:
            entry["ranges"] = {name: [own["low"], own["high"]] for name, own in ranges.items()}
        sizes = argument_sizes(program.source)
        if sizes:
            entry["sizes"] = sizes
        folder = self.question.report
        if folder is not None:
            entry["report"] = write_report(Path(folder), program, labelled.design, self.settings)
        return entry

    def entries_or_reason(self, file: Path) -> list[dict[str, Any]]:
        """Return the entries, or one entry that says why the file is no program."""
        try:
            return self.entries(file)
        except (HlsError, ProgramError) as error:
            return [{"file": str(file), "label": {"status": REJECTED, "reason": str(error)}}]


def is_due_to_values(labelled: LabelledDesign) -> bool:
    """Tell whether a program was rejected for behaviour that other values of its arguments may avoid."""
    label = labelled.label
    return label.status == REJECTED and bool(labelled.runs) and repair_of(label.reason or "") is not None


def non_negative_ranges(program: ProgramRow) -> dict[str, Any]:
    """Return the ranges without negative numbers for the signed integers that have no range of their own: an
    index, a length or a number of places must often not be negative.
    """
    given = json.loads(program.inputs)
    return {
        a.name: {"kind": "uniform", "low": 0, "high": 16}
        for a in read_interface(program.source, program.top).parameters
        if a.type.signed and not a.type.floating and a.name not in given
    }


def explained_reason(labelled: LabelledDesign, *, drawn: bool) -> str | None:
    """Return the reason of a label and what helps: other data where they are at fault, what was done before a
    limit.

    Args: drawn: the values of the arguments were drawn.
    """
    label, runs = labelled.label, labelled.runs
    if label.reason is None:
        return None
    if label.status == REJECTED and runs:
        repair = repair_of(label.reason)
        mended = f"{label.reason}; {repair}" if repair is not None else label.reason
        if not drawn or not is_due_to_values(labelled):
            return mended
        return (
            f"{mended}; the arguments' values were drawn: where they cause it, give others "
            "(--data FILE) or their ranges (--range NAME=LOW:HIGH, #pragma simfoundry range NAME=LOW:HIGH)"
        )
    if label.status == TIMEOUT:
        done = ["high-level synthesis"] if labelled.design.status == OK else []
        counted = [run.latency_cycles for run in runs if run.latency_cycles is not None]
        done += ["native C"] if any(run.native_wall_s is not None for run in runs) and counted else []
        done += [f"{counted[0]} cycles, outputs equal native C"] if counted else []
        return f"{label.reason}; done before: {', '.join(done) or 'nothing'}"
    return label.reason


def _data(program: ProgramRow, file: Path, data: Mapping[str, Any] | Path) -> DataSet:
    try:
        return load_data(data, read_interface(program.source, program.top, file=str(file)))
    except HlsError as error:
        raise HlsError(error.rule, error.got, file=str(file), line=error.line) from error
