"""Error of the functions of the project's math.h against libm, in units in the last place.

    python -m tests.benchmarks.math_header --step 1 --count 100000000

Functions of one float are measured on every step-th of the 2^32 values and compared with libm in double;
powf on `count` random pairs; functions of double on `count` random values, compared with libm in long double
(80 bits on x86-64). Compiled as the native runner compiles programs, but with -O2. Prints a Markdown table.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pipelines.c.text.headers import INCLUDE_FOLDER
from tests.benchmarks.harness import options_parser, print_header

FOLDER = Path(__file__).parent
STRICT = ["-std=c11", "-O2", "-w", "-ffp-contract=off", "-fno-builtin", "-fno-math-errno"]


def build(folder: Path) -> Path:
    """The measuring program; the header and libm are in two translation units."""
    own = ["-nostdinc", "-isystem", str(INCLUDE_FOLDER), "-c", str(FOLDER / "math_header_measure.c")]
    subprocess.run(["gcc", *STRICT, *own, "-o", str(folder / "measure.o")], check=True)
    reference = [str(FOLDER / "math_header_reference.c"), str(folder / "measure.o"), "-lm"]
    subprocess.run(["gcc", *STRICT, *reference, "-o", str(folder / "measure")], check=True)
    return folder / "measure"


def row(line: str) -> str:
    """A line of the program as a row of the table."""
    name, samples, worst, x, y, rounded, wrong = line.split()
    where = f"{x}, {y}" if name.startswith("pow") else x
    return (
        f"| `{name}` | {int(samples):,} | {worst} | {where} | {int(rounded) / int(samples):.2%} | {wrong} |\n"
    )


def main() -> None:
    """Measure and print."""
    parser = options_parser(__doc__)
    parser.add_argument("--step", type=int, default=1, help="of the values of float")
    parser.add_argument("--count", type=int, default=100_000_000, help="random operands")
    options = parser.parse_args()
    print_header("function | samples | largest error in ulp | at | not nearest | wrong")
    with tempfile.TemporaryDirectory() as scratch:
        argv = [str(build(Path(scratch))), str(options.step), str(options.count)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                sys.stdout.write(row(line))
                sys.stdout.flush()
    if process.returncode != 0:
        raise SystemExit(process.returncode)


if __name__ == "__main__":
    main()
