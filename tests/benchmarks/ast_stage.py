"""The AST stage measured: time a program, what is discarded or rejected and why, and what programs are like.

    python -m tests.benchmarks.ast_stage --count 1000 --seed 0 [--label 50]

The first `--label` programs are also read by the front end and scheduled, run natively under sanitizers and
counted by the cycle model, which must agree with native C. Prints one JSON object. The exit status is 1 when
hardware and native C differ, or a program does something undefined.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.c import HlsError
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.programs.ast import AstOptions, GeneratedProgram, generate_program
from pipelines.programs.ast.tree import operators_of
from tests.benchmarks.harness import options_parser, timed
from tests.benchmarks.hls_runs import difference
from tests.programs.loop_depths import loop_depth


def spread(values: Sequence[float]) -> dict[str, float]:
    """Least, quartiles and most."""
    ordered = sorted(values)
    picks = [ordered[round(q * (len(ordered) - 1))] for q in (0, 0.25, 0.5, 0.75, 1)]
    return dict(zip(("least", "q1", "median", "q3", "most"), (round(v, 4) for v in picks), strict=True))


def reason_kind(reason: str) -> str:
    """A reason without its numbers and names."""
    return re.sub(r", got .*", "", reason)


def shares(counter: Counter[Any], total: int) -> dict[str, float]:
    return {str(k): round(v / total, 3) for k, v in sorted(counter.items(), key=lambda i: (-i[1], str(i[0])))}


def label(generated: GeneratedProgram, folder: Path) -> dict[str, Any]:
    """Cycles and seconds of one program, and `problem` when something is wrong."""
    top, specification = generated.program.top.name, json.dumps(generated.inputs)
    try:
        compiled, spent = timed(lambda: compile_program(generated.source, top=top, options=HlsOptions()))
    except HlsError as error:
        return {"problem": f"front end: {error}"}
    data = draw_data(compiled.interface, specification, seed=1)
    native = run_native(generated.source, compiled.interface, data, folder=folder / "native")
    if native.status != "ok":
        return {"problem": f"native: {native.reason}"}
    counted = count_cycles(compiled, data, folder=folder)
    return {
        "problem": difference(native, counted),
        "cycles": counted.latency_cycles,
        "compile_s": spent.wall_s,
        "native_s": native.wall_s,
        "count_s": counted.build_wall_s + counted.run_wall_s,
    }


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--label", type=int, default=0)
    arguments = parser.parse_args()
    seconds, programs = [], []
    for number in range(arguments.count):
        start = time.process_time()
        programs.append(generate_program(seed=arguments.seed, number=number, options=AstOptions()))
        seconds.append(time.process_time() - start)
    discarded = Counter(
        reason_kind(reason) for p in programs for a in p.discarded for reason in [a.refused or ""]
    )
    made = len(programs) + sum(discarded.values())
    used = Counter(name for p in programs for name in operators_of(p.program))
    main_types = Counter(
        name for p in programs for name in sorted({a.type.c_name for a in p.program.top.parameters})
    )
    report: dict[str, Any] = {
        "programs": len(programs),
        "distinct": len({p.source for p in programs}),
        "generate_s": spread(seconds),
        "discarded_share": shares(discarded, made),
        "rejected": Counter(reason_kind(p.refused) for p in programs if p.refused),
        "loop_depth": dict(sorted(Counter(loop_depth(p.program.top.body) for p in programs).items())),
        "loop_depth_median": statistics.median(loop_depth(p.program.top.body) for p in programs),
        "source_bytes": spread([len(p.source) for p in programs]),
        "operators": shares(used, len(programs)),
        "types": shares(main_types, len(programs)),
    }
    found = []
    for number, program in enumerate(programs[: arguments.label]):
        with tempfile.TemporaryDirectory() as folder:
            found.append(label(program, Path(folder)))
        if found[-1]["problem"]:
            sys.stderr.write(f"program {number}: {found[-1]['problem']}\n")
    good = [f for f in found if not f["problem"]]
    if good:
        report["labelled"] = {
            "ok": len(good),
            "of": len(found),
            **{key: spread([f[key] for f in good]) for key in ("cycles", "compile_s", "native_s", "count_s")},
        }
    sys.stdout.write(json.dumps(report, indent=1) + "\n")
    return int(len(good) < len(found))


if __name__ == "__main__":
    sys.exit(main())
