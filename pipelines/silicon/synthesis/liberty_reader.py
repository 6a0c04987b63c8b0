"""From liberty files to `Liberty`: finding the file, and the meaning of groups and units."""

from __future__ import annotations

import hashlib
import math
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.base.files import read_bounded
from pipelines.base.limited import reading
from pipelines.base.summation import ordered_sum
from pipelines.silicon.synthesis.liberty import (
    Cell,
    Constraint,
    FlipFlop,
    InternalPower,
    Liberty,
    Pin,
    StateLeakage,
    SynthesisError,
    Table,
    TimingArc,
    Units,
)
from pipelines.silicon.synthesis.liberty_syntax import Group, parse_groups

SEARCH_ROOTS = (
    Path("/usr/share/qflow/tech"),
    Path("/usr/local/share/qflow/tech"),
    Path(__file__).parents[3] / ".setup" / "liberty",  # of set-up, where the release has no package
)
DEFAULT_LIBRARY = "osu018"
_SUFFIX = "_stdcells.lib"
_NAME_DIGITS = 8

_WHAT = "liberty file"
_GZIP = b"\x1f\x8b"
FILE_LIMIT_BYTES = 64 << 20
NUMBER_LIMIT = 1e30  # sums and products of such numbers stay finite, those in single precision too
ABOVE_ZERO = 1.0 / NUMBER_LIMIT
POINT_LIMIT = 100  # of an axis of a table; libraries have 7 to 20
_TEXTS = {"function", "three_state", "when", "related_pin", "next_state", "clocked_on", "clear", "preset"}

_SI = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}


class _Reader:
    """Turns the groups of one library into data classes; keeps units and table templates."""

    def __init__(self, library: Group, path: Path) -> None:
        self.library = library
        self.path = path
        self.units = self._units()
        self.templates = {
            g.arguments[0]: g for g in library.named("lu_table_template", "power_lut_template") if g.arguments
        }

    def fail(self, rule: str, got: object, group: Group) -> SynthesisError:
        return SynthesisError(f"{rule}, got {repr(got)[:80]} ({self.path}:{group.line})")

    def number(self, text: str, group: Group, name: str, least: float = -NUMBER_LIMIT) -> float:
        try:
            value = math.nan if "_" in text else float(text)  # Python takes 1_0 for 10
        except ValueError:
            value = math.nan
        if not least <= value <= NUMBER_LIMIT:
            raise SynthesisError(
                f"liberty group {group.name[:40]} has {name[:40]} {text[:40]!r} ({self.path}:{group.line}); "
                f"accepted: numbers from {least:g} to {NUMBER_LIMIT:g}"
            )
        return value

    def attribute(self, group: Group, name: str, default: float, least: float = 0.0) -> float:
        text = group.attributes.get(name)
        return default if text is None else self.number(text, group, name, least)

    def _scaled(self, name: str, text: str, unit: str) -> float:
        """Return `1ns`, `10ps`, `100uW` as a number of the SI unit."""
        match = re.fullmatch(rf"\s*([0-9.]+)\s*([fpnum]?){unit}\s*", text, re.IGNORECASE)
        if match is None:
            raise self.fail(f"a liberty unit must be a number and a unit of {unit}", text, self.library)
        return self.number(match[1], self.library, name, ABOVE_ZERO) * _SI[match[2].lower()]

    def _units(self) -> Units:
        simple = self.library.attributes
        load = "".join(self.library.lists.get("capacitive_load_unit", ("1", "pf")))

        def scaled(name: str, default: str, unit: str) -> float:
            return self._scaled(name, simple.get(name, default), unit)

        return Units(
            time_ns=scaled("time_unit", "1ns", "s") * 1e9,
            capacitance_pf=self._scaled("capacitive_load_unit", load, "f") * 1e12,
            voltage_v=scaled("voltage_unit", "1V", "v"),
            leakage_mw=scaled("leakage_power_unit", "1nW", "w") * 1e3,
        )

    def numbers(
        self, values: tuple[str, ...], group: Group, name: str, least: float, most_count: int
    ) -> NDArray[np.float64]:
        words = " ".join(values).replace(",", " ").replace("\\", " ").split(maxsplit=most_count)
        if len(words) > most_count:
            rule = f"{name} in liberty group {group.name} must have at most {most_count} numbers"
            raise self.fail(rule, "more", group)
        return np.array([self.number(w, group, name, least) for w in words])

    def table(self, group: Group | None, scale: float, least: float = -NUMBER_LIMIT) -> Table | None:
        """Return a table with its axes in the order of `Table`, independent of the template's order."""
        if group is None:
            return None
        lines = group.lists.get("values", ())
        values = self.numbers(lines, group, "values", least, POINT_LIMIT**2) * scale
        template = self.templates.get(group.arguments[0] if group.arguments else "")
        axes: dict[str, NDArray[np.float64]] = {}
        order: list[str] = []
        for index in ("1", "2"):
            variable = template.attributes.get(f"variable_{index}") if template else None
            if variable is None or template is None:
                continue
            points = group.lists.get(f"index_{index}") or template.lists.get(f"index_{index}", ())
            place, unit = self._axis(variable, group)
            axes[place] = self.numbers(points, group, f"index_{index}", 0.0, POINT_LIMIT) * unit
            order.append(place)
        first, second = axes.get("first", np.zeros(1)), axes.get("second", np.zeros(1))
        if values.size != first.size * second.size:
            rule = f"liberty table {group.name} must have {first.size * second.size} values"
            raise self.fail(rule, int(values.size), group)
        if any((np.diff(a) <= 0).any() for a in (first, second)):
            raise self.fail("the index of a liberty table must increase", group.name, group)
        if order == ["second", "first"]:
            return Table(first=first, second=second, values=values.reshape(second.size, -1).T)
        return Table(first=first, second=second, values=values.reshape(first.size, -1))

    def check_template(self, group: Group) -> None:
        """Check indices that tables may replace, but that the tools read first."""
        for name in ("index_1", "index_2"):
            points = self.numbers(group.lists.get(name, ()), group, name, 0.0, POINT_LIMIT)
            if (np.diff(points) < 0).any():
                raise self.fail("the index of a liberty template must not decrease", name, group)

    def _axis(self, variable: str, group: Group) -> tuple[str, float]:
        if variable in ("total_output_net_capacitance", "equal_or_opposite_output_net_capacitance"):
            return "second", self.units.capacitance_pf
        if variable == "constrained_pin_transition":
            return "second", self.units.time_ns
        if variable in ("input_net_transition", "input_transition_time", "related_pin_transition"):
            return "first", self.units.time_ns
        raise self.fail(
            "a liberty table variable must be a transition or an output capacitance",
            variable,
            group,
        )

    def arcs(self, pin: Group) -> tuple[TimingArc, ...]:
        time = self.units.time_ns
        return tuple(
            TimingArc(
                related_pin=related,
                sense=g.attributes.get("timing_sense", "non_unate"),
                kind=g.attributes.get("timing_type", "combinational"),
                when=g.attributes.get("when"),
                delay_rise=self.table(g.first("cell_rise"), time),
                delay_fall=self.table(g.first("cell_fall"), time),
                transition_rise=self.table(g.first("rise_transition"), time, least=0.0),
                transition_fall=self.table(g.first("fall_transition"), time, least=0.0),
            )
            for g in pin.named("timing")
            if g.first("cell_rise", "cell_fall") is not None
            for related in g.attributes.get("related_pin", "").split()
        )

    def constraints(self, pin: Group) -> tuple[Constraint, ...]:
        return tuple(
            Constraint(
                related_pin=related,
                kind=g.attributes.get("timing_type", ""),
                when=g.attributes.get("when"),
                rise=self.table(g.first("rise_constraint"), self.units.time_ns),
                fall=self.table(g.first("fall_constraint"), self.units.time_ns),
            )
            for g in pin.named("timing")
            if g.first("rise_constraint", "fall_constraint") is not None
            for related in g.attributes.get("related_pin", "").split()
        )

    def internal_power(self, pin: Group) -> tuple[InternalPower, ...]:
        energy = self.units.energy_pj
        return tuple(
            InternalPower(
                related_pin=g.attributes.get("related_pin"),
                when=g.attributes.get("when"),
                rise=self.table(g.first("rise_power", "power"), energy),
                fall=self.table(g.first("fall_power", "power"), energy),
            )
            for g in pin.named("internal_power")
        )

    def pin(self, group: Group, name: str) -> Pin:
        unit = self.units.capacitance_pf
        capacitance = self.attribute(group, "capacitance", 0.0)
        limit = group.attributes.get("max_capacitance")
        return Pin(
            name=name,
            direction=group.attributes.get("direction", ""),
            capacitance_pf=capacitance * unit,
            rise_capacitance_pf=self.attribute(group, "rise_capacitance", capacitance) * unit,
            fall_capacitance_pf=self.attribute(group, "fall_capacitance", capacitance) * unit,
            max_capacitance_pf=(
                None if limit is None else self.number(limit, group, "max_capacitance", 0.0) * unit
            ),
            function=group.attributes.get("function"),
            three_state=group.attributes.get("three_state"),
            is_clock=group.attributes.get("clock") == "true",
            arcs=self.arcs(group),
            constraints=self.constraints(group),
            internal_power=self.internal_power(group),
        )

    def flip_flop(self, group: Group) -> FlipFlop:
        if not group.arguments or not {"next_state", "clocked_on"} <= group.attributes.keys():
            rule = "a liberty ff group must have a state variable, next_state and clocked_on"
            raise self.fail(rule, sorted(group.attributes), group)
        return FlipFlop(
            state=group.arguments[0],
            state_inverted=group.arguments[1] if len(group.arguments) > 1 else None,
            next_state=group.attributes["next_state"],
            clocked_on=group.attributes["clocked_on"],
            clear=group.attributes.get("clear"),
            preset=group.attributes.get("preset"),
        )

    def cell(self, group: Group) -> Cell:
        unit = self.units.leakage_mw
        states = tuple(
            StateLeakage(
                when=g.attributes.get("when"),
                leakage_mw=self.attribute(g, "value", 0.0) * unit,
            )
            for g in group.named("leakage_power")
        )
        name, holder = "cell_leakage_power", group
        if name not in group.attributes and not states:
            name, holder = "default_cell_leakage_power", self.library
        whole = holder.attributes.get(name)
        mean = ordered_sum(s.leakage_mw for s in states) / len(states) if states else None
        return Cell(
            name=group.arguments[0] if group.arguments else "",
            area_um2=self.attribute(group, "area", 0.0),
            pins={name: self.pin(g, name) for g in group.named("pin") for name in g.arguments},
            flip_flops=tuple(self.flip_flop(g) for g in group.named("ff")),
            is_latch=group.first("latch") is not None,
            leakage_mw=mean if whole is None else self.number(whole, holder, name, 0.0) * unit,
            leakage_by_state=states,
        )

    def check_finite(self, group: Group) -> None:
        """Refuse infinite values and NaN in attributes that only the tools read."""
        for name, text in group.attributes.items():
            if name not in _TEXTS and _is_infinite(text):
                self.number(text, group, name)
        for inner in group.groups:
            self.check_finite(inner)

    def read(self) -> Liberty:
        cells: dict[str, Cell] = {}
        for group in self.library.named("cell"):
            cell = self.cell(group)
            if cell.name in cells:
                raise self.fail("cells of a liberty file must have different names", cell.name, group)
            cells[cell.name] = cell
        for template in self.templates.values():
            self.check_template(template)
        if not cells:
            raise self.fail("a liberty file must contain cells", "none", self.library)
        voltage = self.attribute(self.library, "nom_voltage", 0.0, ABOVE_ZERO)
        self.check_finite(self.library)
        return Liberty(
            name=self.library.arguments[0] if self.library.arguments else self.path.stem,
            units=self.units,
            nominal_voltage_v=voltage * self.units.voltage_v,
            cells=cells,
        )


def _is_infinite(text: str) -> bool:
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False


def _installed() -> dict[str, Path]:
    """Return the installed libraries by name of file or folder; the first root that has a name wins.

    The two differ for osu050, whose file is osu05_stdcells.lib.
    """
    paths: dict[str, Path] = {}
    for root in SEARCH_ROOTS:
        for path in sorted(root.glob(f"**/*{_SUFFIX}")):
            paths.setdefault(path.name.removesuffix(_SUFFIX), path)
            paths.setdefault(path.parent.name, path)
    return paths


def find_liberty(name_or_path: str | None) -> Path:
    """Find the liberty file of a standard-cell library.

    Args:    name_or_path: the name of an installed library such as "osu018", the path of a liberty
             file, or None for osu018.
    Returns: absolute path of a file that was read and is liberty with cells in it.
    Raises:  SynthesisError: no such library or file, or the file is not liberty.
    """
    name = DEFAULT_LIBRARY if name_or_path is None else name_or_path
    installed = _installed()
    path = installed.get(name, Path(name))
    if not path.exists() or path.is_dir():
        names = ", ".join(sorted(installed)) or "none installed; run `make setup`"
        raise SynthesisError(
            f"no such liberty file or installed library: {name!r}; names of installed ones: {names}"
        )
    load_liberty(path)
    return path.absolute()


def unique_liberty_name(path: Path) -> str:
    """Return a name that no file with other bytes has: that of an installed library with these bytes, or the
    file's own with the first 8 digits of its SHA-256.

    Raises: SynthesisError: the file cannot be read.
    """
    digest = liberty_sha256(path)
    for name, installed in _installed().items():
        if installed.name == f"{name}{_SUFFIX}" and liberty_sha256(installed) == digest:
            return name
    return f"{path.stem.removesuffix(Path(_SUFFIX).stem)}-{digest[:_NAME_DIGITS]}"


def load_liberty(path: Path) -> Liberty:
    """Read a standard-cell library; an unchanged file is read once.

    Returns: every cell with area, pins, functions, `ff` groups, timing, constraints and power
             tables.
    Raises:  SynthesisError: not readable or not liberty; the message has file, line and rule.
    """
    return _load(path, *_state_of(path))


@lru_cache(maxsize=8)
def _load(path: Path, mtime_ns: int, size: int) -> Liberty:  # noqa: ARG001 (part of the key)
    text = _content(path).decode("utf-8", errors="replace")
    with reading(f"the {_WHAT} {path}"):
        return _Reader(parse_groups(text, path), path).read()


def liberty_hash(path: Path) -> str:
    """Return the first 32 hexadecimal digits of the SHA-256 of a liberty file's bytes.

    Raises: SynthesisError: the file cannot be read.
    """
    return hashlib.sha256(_content(path)).hexdigest()[:32]


def liberty_sha256(path: Path) -> str:
    """Return the SHA-256 of a liberty file's bytes; an unchanged file is read once.

    Raises: SynthesisError: the file cannot be read.
    """
    return _sha256(path, *_state_of(path))


@lru_cache(maxsize=8)
def _sha256(path: Path, mtime_ns: int, size: int) -> str:  # noqa: ARG001 (part of the key)
    return hashlib.sha256(_content(path)).hexdigest()


def _state_of(path: Path) -> tuple[int, int]:
    """Return when a file was changed, and its size."""
    try:
        status = path.stat()
    except OSError as error:
        raise SynthesisError(f"cannot read the {_WHAT} {path}: {error.strerror}") from error
    return status.st_mtime_ns, status.st_size


def _content(path: Path) -> bytes:
    content = read_bounded(path, what=_WHAT, most_bytes=FILE_LIMIT_BYTES, error=SynthesisError)
    if content.startswith(_GZIP):
        raise SynthesisError(f"compressed with gzip: {path}; accepted: an unpacked {_WHAT}")
    return content
