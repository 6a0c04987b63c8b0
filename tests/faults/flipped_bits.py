"""Single bits flipped in every kind of file that is read back as a result.

    python tests/faults/flipped_bits.py --count 1000 --seed 0

Prints one JSON object per kind: flips, detected (absent, made again, or a documented error), harmless (the
same result), faults (another result, or another error).
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Files that one function reads.

    Attributes:
        read: something that is equal for equal results; None when the file counts as absent.
        errors: what it may raise for a damaged file.
    """

    name: str
    files: Sequence[Path]
    read: Callable[[], Any]
    errors: tuple[type[Exception], ...] = ()


def cache_entries(folder: Path) -> list[Kind]:
    import pyarrow.parquet as pq

    from pipelines.base.cache import ContentCache

    cache = ContentCache(folder=folder)
    rows = pq.read_table(ROOT / "releases" / "v1" / "tables" / "labels" / "stationary-0000.parquet")
    cache.put("labels", "a1", rows.to_pylist())
    cache.put_table("graphs", "a1", rows)
    netlist = {"cells": {f"u{k}": {"type": "NAND2X1", "nets": [k, k + 1]} for k in range(400)}}
    cache.put("netlist", "a1", netlist)
    read: dict[str, Callable[[], Any]] = {
        "labels": lambda: cache.get("labels", "a1"),
        "graphs": lambda: cache.get_table("graphs", "a1"),
        "netlist": lambda: cache.get("netlist", "a1"),
    }
    return [
        Kind(name=f"cache entry ({kind})", files=list((folder / kind).rglob("*1.*")), read=function)
        for kind, function in read.items()
    ]


def tables(folder: Path) -> list[Kind]:
    from assets.errors import FoundryError
    from pipelines.schemas import (
        SchemaError,
        fill_columns,
        read_arrow,
        read_table,
        scan_table,
        table_spec,
        write_arrow,
    )
    from simfoundry.commands.sql import run_query

    kinds: list[Kind] = []
    for name in ("programs", "labels", "runs"):
        content = read_arrow(ROOT / "releases" / "v1" / "tables" / name / "stationary-0000.parquet")
        spec = table_spec(name)
        path = write_arrow(folder, spec, fill_columns(content, spec.schema()), "stationary")
        read = lambda spec=spec: read_table(folder, spec)  # noqa: E731
        kinds.append(Kind(name=f"table ({name})", files=[path], read=read, errors=(SchemaError,)))
    rows = lambda: scan_table(folder, table_spec("runs")).collect().rows()  # noqa: E731
    kinds.append(Kind(name="table as a frame", files=kinds[2].files, read=rows, errors=(SchemaError,)))
    query = "SELECT * FROM labels JOIN runs USING (design_id)"
    files = [file for kind in kinds[1:3] for file in kind.files]
    kinds.append(
        Kind(name="tables by SQL", files=files, read=lambda: run_query(folder, query), errors=(FoundryError,))
    )
    return kinds


def engines(folder: Path) -> list[Kind]:
    from pipelines.network.simulation.engine import build_simulator
    from pipelines.power.estimate import build_engine

    builds = {"netlist": build_engine, "network": build_simulator}
    kinds: list[Kind] = []
    for name, build in builds.items():
        own = folder / name
        read = lambda build=build, own=own: build(own).read_bytes()  # noqa: E731
        read()
        kinds.append(Kind(name=f"compiled {name} simulator", files=list(own.iterdir()), read=read))
    return kinds


def cycle_models(folder: Path) -> list[Kind]:
    from pipelines.cyclemodel import build_model
    from pipelines.hls import HlsOptions, compile_program

    source = "int f(const int a[8]) { int s = 0; for (int k = 0; k < 8; k++) s += a[k]; return s; }"
    compiled = compile_program(source, top="f", options=HlsOptions())

    def read() -> bytes:
        return build_model(compiled, folder=folder).executable.read_bytes()

    read()
    return [Kind(name="cycle model", files=list(folder.iterdir()), read=read)]


def predictors(folder: Path) -> list[Kind]:
    sys.path.insert(0, str(ROOT / "tests" / "models"))
    from dataclasses import replace

    from labelled_nests import NESTS, QUICK, write_tables

    from models.base import PredictorError
    from models.queue_correction import PREDICTOR as QUEUE_CORRECTION
    from models.tenset_mlp import PREDICTOR as TENSET_MLP
    from models.tenset_mlp.predictor import TensetMlpPredictor

    data, options = write_tables(folder / "data", NESTS), replace(QUICK, max_epochs=2)
    trained = TENSET_MLP.train(data, options, seed=1).folder

    def answers() -> Any:
        predictor = TensetMlpPredictor.load(trained)
        return predictor.card, {name: values.tolist() for name, values in predictor.arrays.items()}

    def outcome() -> Any:
        found = TENSET_MLP.train(data, options, seed=1)
        return found.summary, found.leaderboard, found.curves

    def correction() -> str:
        return repr(QUEUE_CORRECTION.load(copy))

    copy = folder / "correction"
    shutil.copytree(QUEUE_CORRECTION.shipped_folder, copy)
    served = [trained / "model.json", trained / "weights.safetensors"]
    corrected = [copy / "model.json", copy / "weights.safetensors"]
    return [
        Kind(name="predictor (tenset-mlp)", files=served, read=answers, errors=(PredictorError,)),
        Kind(name="outcome of a training", files=[trained / "outcome.json"], read=outcome),
        Kind(name="predictor (queue-correction)", files=corrected, read=correction, errors=(PredictorError,)),
    ]


def releases(folder: Path) -> list[Kind]:
    from pipelines.dataset.releases import ReleaseError, open_release

    copy = folder / "release"
    shutil.copytree(ROOT / "releases" / "network-long-v1", copy)
    files = [p for p in copy.rglob("*") if p.is_file() and p.name != "README.md"]

    def read() -> Any:
        release = open_release(copy)
        return {table: release.partitions(table) for table in release.tables()}

    return [Kind(name="release", files=files, read=read, errors=(ReleaseError,))]


MAKERS = (cache_entries, tables, engines, cycle_models, predictors, releases)


def flip(path: Path, whole: bytes, place: int) -> None:
    """Write a file with one bit changed."""
    damaged = bytearray(whole)
    damaged[place // 8] ^= 1 << place % 8
    path.write_bytes(damaged)


def campaign(kind: Kind, count: int, draw: random.Random) -> dict[str, Any]:
    """What became of so many flips."""
    expected, detected, harmless, faults = kind.read(), 0, 0, list[str]()
    whole = {path: path.read_bytes() for path in kind.files}
    modes = {path: path.stat().st_mode for path in kind.files}
    for _ in range(count):
        path = draw.choice(kind.files)
        place = draw.randrange(8 * len(whole[path]))
        flip(path, whole[path], place)
        said = len(RECORDS.messages)
        try:
            value = kind.read()
        except kind.errors:
            detected += 1
        except Exception as error:  # what a user would see as a traceback
            faults.append(f"bit {place} of {path.name}: {type(error).__name__}: {error!s:.200}")
        else:
            if value is None or (len(RECORDS.messages) > said and value == expected):
                detected += 1
            elif value == expected:
                harmless += 1
            else:
                faults.append(f"bit {place} of {path.name}: another result")
        path.write_bytes(whole[path])
        path.chmod(modes[path])
    flips = {"kind": kind.name, "flips": count, "detected": detected, "harmless": harmless}
    return {**flips, "faults": faults}


class _Records(logging.Handler):
    """What was said of damaged files."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


RECORDS = _Records()


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--count", type=int, default=1000, help="flips over all kinds together")
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    logging.getLogger("pipelines.base.sealing").addHandler(RECORDS)
    logging.getLogger("pipelines.base.sealing").propagate = False
    with tempfile.TemporaryDirectory() as scratch:
        kinds: list[Kind] = []
        for maker in MAKERS:
            own = Path(scratch) / maker.__name__
            own.mkdir()
            kinds += maker(own)
        for index, kind in enumerate(kinds):
            share = chosen.count * (index + 1) // len(kinds) - chosen.count * index // len(kinds)
            sys.stdout.write(
                json.dumps(campaign(kind, share, random.Random(f"{kind.name} {chosen.seed}"))) + "\n"
            )


if __name__ == "__main__":
    main()
