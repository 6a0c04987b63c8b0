"""Predictors of programs on latencies and resources that vendors' tools reported, beside HARP's surrogate.

    python -m tests.benchmarks.vendor_predictors --designs FILE --kernels FILE --apart kernels|tool
        [--folds 3] [--predictors numeric-lm-text tlp ...] [-o OPTION=VALUE] [--out FOLDER]

The rows become tables of the release's layout: a program per kernel and tool (the tool is a macro of its
text), a design per configuration, `area_um2` for LUTs, `flip_flop_count` for flip-flops and `delay_ns` for
DSPs, where there are any. Apart are kernels in folds, variants of one kernel in one fold, or the tool with
the fewest rows. Figures per predictor and target: mean and median absolute percentage error, and Spearman's
rank correlation, the mean over kernels. `-o` is of the numeric language model. The surrogate and the bound
answer latencies alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from models.catalogue import predictor_named
from models.leaderboard import Prediction
from models.model_files import PREDICTIONS_FILE
from models.pragma_gnn.data import MeasuredDesign
from pipelines.base.identity import content_hash
from pipelines.c import Directive, directives_json, read_interface
from pipelines.dataset.features import extract_loops
from pipelines.dataset.vendor import read_merlin
from pipelines.hls import TOOL
from pipelines.pragmas.bound import impossible, read_target
from pipelines.pragmas.configuration import FINE, OFF, Configuration
from pipelines.programs.data import data_id, draw_data
from pipelines.programs.rows import program_row
from pipelines.schemas import (
    DRAWN,
    OK,
    DesignRow,
    LabelRow,
    ProgramRow,
    RunRow,
    SplitRow,
    VendorDesignRow,
    table_spec,
    write_table,
)
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.pragma_gnn import FAMILIES, HELD_OPTIONS, answers, bound_answers, rank
from tests.benchmarks.pragma_splits import folds_of_programs, measured_design, vendor_summaries
from tests.support.vendor_kernels import vendor_kernel

SUITE, SPLIT = "vendor", "apart"
PREDICTORS = ("lightgbm-text", "tlp", "numeric-lm-text", "lightgbm-static", "tenset-mlp")
NAMES = {"latency_cycles": "latency", "area_um2": "LUT", "flip_flop_count": "FF", "delay_ns": "DSP"}
_EMPTY: Mapping[str, Any] = {"str": "", "int": 0, "float": 0.0, "bool": False}


class Vendor:
    """Vendor rows with a latency, of all or some kernels, and the tables of them."""

    def __init__(self, designs: Path, kernels: Path, chosen: Container[str] | None = None) -> None:
        found = [
            row
            for row in read_merlin(designs, kernels=kernels).designs
            if row.latency_cycles and (chosen is None or row.kernel in chosen)
        ]
        self.target = read_target("u200")
        self.summaries = vendor_summaries(row.kernel for row in found)
        self.rows: dict[str, VendorDesignRow] = {}
        self.measured: dict[str, MeasuredDesign] = {}
        for row in found:
            if impossible(self.summaries[row.kernel], self.target, row.latency_cycles or 0) is None:
                name = content_hash(row.kernel, row.tool, row.directives, row.directives_by_loop)
                self.rows[name] = row
                self.measured[name] = measured_design(row, self.summaries[row.kernel], self.target)

    def write(self, folder: Path, parts: Mapping[str, str]) -> Path:
        """Tables with a part per design; the programs of the rows follow."""
        programs: dict[tuple[str, str], ProgramRow] = {}
        splits: dict[str, SplitRow] = {}
        designs: list[DesignRow] = []
        labels: list[LabelRow] = []
        runs: list[RunRow] = []
        for name, row in self.rows.items():
            pair = (row.kernel, row.tool)
            if pair not in programs:
                programs[pair] = _program(*pair)
            program = programs[pair]
            splits[program.program_id] = SplitRow(
                split=SPLIT, program_id=program.program_id, group=program.name, part=parts[name]
            )
            known = {"design_id": name, "program_id": program.program_id, "suite": SUITE, "status": OK}
            designs.append(
                _row(
                    DesignRow,
                    **known,
                    tool=TOOL,
                    liberty="osu018",
                    directives=directives_json(_directives(self.measured[name].configuration)),
                    clock_period_ns=row.clock_period_ns or 4.0,
                    engine_options="{}",
                )
            )
            labels.append(
                _row(
                    LabelRow,
                    **known,
                    tool="vendor",
                    liberty="osu018",
                    area_um2=row.lut_count,
                    flip_flop_count=None if row.ff_count is None else round(row.ff_count),
                    delay_ns=row.dsp_count or None,
                )
            )
            runs.append(
                _row(
                    RunRow,
                    **known,
                    data_id=_drawn(program),
                    data_kind=DRAWN,
                    latency_cycles=int(row.latency_cycles or 0),
                    outputs_equal=True,
                )
            )
        loops = [loop for program in programs.values() for loop in extract_loops(program)]
        for table, own in {
            "programs": list(programs.values()),
            "splits": list(splits.values()),
            "designs": designs,
            "labels": labels,
            "runs": runs,
            "loops": loops,
        }.items():
            write_table(folder, table_spec(table), own, "all")
        return folder


def _row(kind: type[Any], **known: Any) -> Any:
    """A row whose other fields are empty."""
    return kind(
        **{
            field.name: known[field.name] if field.name in known else _EMPTY.get(str(field.type))
            for field in fields(kind)
        }
    )


def _program(kernel: str, tool: str) -> ProgramRow:
    own = vendor_kernel(kernel)
    macro = "".join(mark if mark.isalnum() else "_" for mark in f"tool_{tool}")
    return program_row(
        name=f"{kernel}-{tool}",
        suite=SUITE,
        stage="kernel",
        size="custom",
        parameters={},
        source=f"{own.source}\n#define {macro} 1\n",
        top=own.top,
        inputs={},
    )


def _drawn(program: ProgramRow) -> str:
    return data_id(draw_data(read_interface(program.source, program.top), program.inputs, seed=0))


def _directives(configuration: Configuration) -> list[Directive]:
    found: list[Directive] = []
    for loop, choice in configuration.loops.items():
        if choice.pipeline != OFF:
            found.append(
                Directive(kind="pipeline", loop=loop, style="flatten" if choice.pipeline == FINE else "")
            )
        for kind, factor in (("parallel", choice.unroll), ("tile", choice.tile)):
            if factor > 1:
                found.append(Directive(kind=kind, loop=loop, value=factor))
    return found


def parts_of(vendor: Vendor, apart: str, folds: int) -> list[dict[str, str]]:
    """The part of each design, once per fold."""
    if apart == "tool":
        tools = Counter(row.tool for row in vendor.rows.values())
        least = min(tools, key=lambda tool: (tools[tool], tool))
        validated = folds_of_programs(list(vendor.measured.values()), 10, FAMILIES)[0]
        return [
            {
                name: "test" if row.tool == least else "validation" if row.kernel in validated else "train"
                for name, row in vendor.rows.items()
            }
        ]
    known = folds_of_programs(list(vendor.measured.values()), folds, FAMILIES)
    return [
        {
            name: "test"
            if row.kernel in fold
            else "validation"
            if row.kernel in known[(place + 1) % len(known)][:2]
            else "train"
            for name, row in vendor.rows.items()
        }
        for place, fold in enumerate(known)
    ]


def surrogate_rows(vendor: Vendor, parts: Mapping[str, str]) -> dict[str, list[Prediction]]:
    """Latencies of the held-out designs by HARP's surrogate, and by the bound."""
    asked = [name for name, part in parts.items() if part == "test"]
    training = [vendor.measured[name] for name, part in parts.items() if part != "test"]
    designs = [vendor.measured[name] for name in asked]
    logs = {
        "HARP's surrogate (`pragma_gnn`)": answers(
            training, designs, vendor.summaries, vendor.target, HELD_OPTIONS, 0
        ),
        "bound, times the mean ratio": bound_answers(training, designs),
    }
    return {
        name: [
            _prediction(design, one, float(value))
            for design, one, value in zip(asked, designs, np.exp(own), strict=True)
        ]
        for name, own in logs.items()
    }


def _prediction(design: str, measured: MeasuredDesign, value: float) -> Prediction:
    return Prediction(
        design_id=design,
        group=measured.program,
        part="test",
        target="latency_cycles",
        actual=measured.latency_cycles,
        predicted=value,
    )


def medians(vendor: Vendor, parts: Mapping[str, str], known: Iterable[Prediction]) -> list[Prediction]:
    """The median of the training part, for the designs of other predictions."""
    columns = {
        "latency_cycles": "latency_cycles",
        "area_um2": "lut_count",
        "flip_flop_count": "ff_count",
        "delay_ns": "dsp_count",
    }
    names = [name for name, part in parts.items() if part == "train"]
    middle = {
        target: float(np.median([value for name in names if (value := getattr(vendor.rows[name], column))]))
        for target, column in columns.items()
    }
    return [replace(one, predicted=middle[one.target]) for one in known]


def figures(vendor: Vendor, predictions: Sequence[Prediction]) -> str:
    """Errors and rank, as cells."""
    predicted = np.array([one.predicted for one in predictions])
    actual = np.array([one.actual for one in predictions])
    errors = 100 * np.abs(predicted / actual - 1)
    kernels = np.array([vendor.rows[one.design_id].kernel for one in predictions])
    ranks = [
        rank(np.log(predicted[own]), np.log(actual[own]))
        for kernel in sorted(set(kernels.tolist()))
        if (own := kernels == kernel).sum() >= 4
    ]
    mean = np.nanmean(ranks) if ranks else float("nan")
    return f"{len(predictions)} | {np.mean(errors):.1f} | {np.median(errors):.1f} | {mean:.2f}"


def main() -> None:
    """Read the arguments, train each predictor on each fold, print a table."""
    parser = options_parser(__doc__)
    parser.add_argument("--designs", type=Path, required=True)
    parser.add_argument("--kernels", type=Path, required=True)
    parser.add_argument("--apart", choices=("kernels", "tool"), required=True)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--predictors", nargs="+", default=list(PREDICTORS))
    parser.add_argument("--out", type=Path, default=Path("data/vendor"))
    parser.add_argument("-o", "--option", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    own = {k: yaml.safe_load(v) for k, _, v in (one.partition("=") for one in arguments.option)}
    vendor = Vendor(arguments.designs, arguments.kernels)
    found: dict[str, list[Prediction]] = {}
    for place, parts in enumerate(parts_of(vendor, arguments.apart, arguments.folds)):
        folder = vendor.write(arguments.out / f"{arguments.apart}-{place}", parts)
        for name in arguments.predictors:
            spec = predictor_named(name)
            options = spec.options(split=SPLIT, **(own if name.startswith("numeric-lm") else {}))
            outcome = spec.train(folder, options)
            rows = [Prediction(**row) for row in json.loads((outcome.folder / PREDICTIONS_FILE).read_bytes())]
            rows = [row for row in rows if row.part == "test" and row.target in NAMES]
            found.setdefault(name, []).extend(rows)
            if name == arguments.predictors[0]:
                found.setdefault("median of training", []).extend(medians(vendor, parts, rows))
        judged = {row.design_id for row in found[arguments.predictors[0]]}
        for name, rows in surrogate_rows(vendor, parts).items():
            found.setdefault(name, []).extend(row for row in rows if row.design_id in judged)
    print_header("target | predictor | designs | mean | median | rank")
    for target, short in NAMES.items():
        for name, rows in found.items():
            chosen = [row for row in rows if row.target == target]
            if chosen:
                print_row(short, name, figures(vendor, chosen))


if __name__ == "__main__":
    main()
