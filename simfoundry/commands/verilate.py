"""`simfoundry verilate`: a design as a C++ library for test benches of Verilator's models."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assets.errors import FoundryError
from pipelines.base.limited import reading
from pipelines.base.tools import stopwatch
from pipelines.rtl.reuse.projects import Project, ProjectFiles, read_project
from pipelines.rtl.reuse.verilated import compile_model, write_model
from pipelines.schemas import write_bytes_atomically
from simfoundry.commands.rtl_project import (
    existing_files,
    naming_file,
    naming_memory_files,
    project_files,
    project_label,
    source_of,
)
from simfoundry.questions import VerilateQuestion

_BUILD_LIMIT_S = 3600.0


def answer_verilate(question: VerilateQuestion) -> dict[str, Any]:
    """Translate and compile a design, and write the files of its library.

    Raises: RtlError: the design is not acceptable. FoundryError: the folder is not.
            ToolMissing: a C++ compiler is not installed.
    """
    named = project_files(question)
    with naming_file(named):
        return _answer(question, named)


def _answer(question: VerilateQuestion, named: ProjectFiles) -> dict[str, Any]:
    out = Path(question.out)
    with reading(f"the design {project_label(named)}"):
        project = read_project(named)
    start = stopwatch()
    with naming_memory_files(project):
        model = write_model(
            project.text,
            top=project.top,
            prefix=question.prefix or "",
            timeout_s=_BUILD_LIMIT_S,
            **source_of(project, question),
        )
    with tempfile.TemporaryDirectory(prefix="model-") as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        library = compile_model(model, scratch=scratch, timeout_s=_BUILD_LIMIT_S)
    build_s = stopwatch() - start
    _write(out, {**model.files, model.library: library}, project)
    return {
        "top": project.top,
        "class": model.name,
        "front_end": model.front_end,
        "clocks": list(model.clocks),
        "inputs": dict(model.inputs),
        "outputs": dict(model.outputs),
        "files": [str(out / name) for name in (*model.files, model.library)],
        "library": str(out / model.library),
        "library_bytes": len(library),
        "build_s": round(build_s, 3),
    }


def _write(out: Path, contents: Mapping[str, bytes], project: Project) -> None:
    """Write files into the folder, over those of the same names.

    Raises: FoundryError: not writable, or a file is one of the design.
    """
    for name in contents:
        path = out / name
        if path.exists() and any(file.samefile(path) for file in existing_files(project)):
            raise FoundryError(f"--out {out}: {path} is a file of the design; accepted: another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            write_bytes_atomically(out / name, content)
    except OSError as error:
        raise FoundryError(f"cannot write --out {out}: {error.strerror}") from error


def verilate_text(answer: Mapping[str, Any]) -> str:
    """Return the answer as text."""
    folder = Path(answer["library"]).parent
    plain = {
        "design": f"{answer['top']}: {len(answer['inputs'])} inputs, {len(answer['outputs'])} outputs, "
        f"clocks {', '.join(answer['clocks']) or 'none'}, read by {answer['front_end']}",
        "class": f"{answer['class']}, {answer['library_bytes'] / 1024:,.0f} KiB, "
        f"ready in {answer['build_s']:.2f} s",
        "files": " ".join(Path(file).name for file in answer["files"]) + f" in {folder}",
        "link": f"g++ -I {folder} bench.cpp {answer['library']}",
    }
    return "\n".join(f"{name:<10} {text}" for name, text in plain.items())
