"""Frozen splits: which side each program is on, the same today and in a year."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from pipelines.base.identity import content_hash
from pipelines.programs import (
    WRITTEN,
    Signature,
    ast_hash_or_none,
    frozen_hashes,
    left_out_kernels,
    near_pairs,
    signature,
    text_signature,
    untyped_name,
)
from pipelines.schemas import OK, ProgramRow, SplitRow, read_table, scan_table, table_spec

TEST_SHARE = 0.2
VALIDATION_SHARE = 0.15

BY_KERNEL = "by_kernel_v1"
BY_KERNEL_V2 = "by_kernel_v2"
BY_KERNEL_V3 = "by_kernel_v3"
NEAR_SPLITS = (BY_KERNEL_V2, BY_KERNEL_V3)
"""Splits that keep near-duplicates together."""
EVALUATION = "evaluation"
"""Stage of the programs no model is trained on, and their part of every split."""
EXCLUDED = "excluded"
FIELDS = "fields"
"""Part of kernels written by hand in the fields that no model is trained or chosen on, in BY_KERNEL_V3."""
PLACED_PARTS = ("train", "validation", "test")
"""Parts that a group's name decides."""
LEARNED_PARTS = ("train", "validation")
"""Parts that models are trained and chosen on."""
UNSEEN_DELAY = "unseen_delay"
SEEN_DELAYS = (2, 5, 10)
"""Memory delays of training, validation, test and evaluation in NEAR_SPLITS, in cycles."""
_SALTS = {BY_KERNEL: (BY_KERNEL, 0), **dict.fromkeys(NEAR_SPLITS, (BY_KERNEL_V2, 0))}
"""What sides depend on beside the group's name. Chosen before any label existed: with it every suite has
programs in train and in test. BY_KERNEL_V3 has the sides of BY_KERNEL_V2."""


class SplitError(ValueError):
    """A split would change, or is not known."""


SignatureOf = Callable[[ProgramRow], Signature | None]
"""The MinHash signature of a program, found from its source."""


def _part(split: str, group: str) -> str:
    """Return side of a group: a fixed function of its name, so that a subset of programs never moves one."""
    share = int(content_hash(*_SALTS[split], group)[:8], 16) / 2**32
    if share < TEST_SHARE:
        return "test"
    return "validation" if share < TEST_SHARE + VALIDATION_SHARE else "train"


def freeze_split(
    programs: Sequence[ProgramRow],
    *,
    name: str = BY_KERNEL,
    existing: Sequence[SplitRow] = (),
    signature_of: SignatureOf | None = None,
) -> list[SplitRow]:
    """Place programs in a split; all programs of one name (its sizes) are on one side, and so are variants.

    NEAR_SPLITS also keep near-duplicates together, see `freeze_near_split`.

    Programs of stage evaluation have a part of their own in every split: no model is trained or chosen on
    them.

    Args:    existing: rows that were written before; they stay as they are.
    Returns: the existing rows of that split and a row for each new program, by program id.
    Raises:  SplitError: the split is not known, an existing row puts a group on two sides, or one puts an
             evaluation program into another part.
    """
    if name not in _SALTS:
        raise SplitError(f"split must be one of {', '.join(_SALTS)}, got {name!r}")
    if name in NEAR_SPLITS:
        near = signature_of or source_signature
        return freeze_near_split(programs, name=name, existing=existing, signature_of=near)
    rows = {r.program_id: r for r in existing if r.split == name}
    sides: dict[str, str] = {}
    for row in rows.values():
        if sides.setdefault(row.group, row.part) != row.part:
            raise SplitError(f"a group must be on one side of {name}, got {row.group!r} on two")
    held_out = {p.name for p in programs if p.stage == EVALUATION}
    for program in programs:
        group = program.root or program.name
        is_held_out = program.stage == EVALUATION or group in held_out
        part = EVALUATION if is_held_out else sides.get(group) or _part(name, group)
        placed = rows.setdefault(
            program.program_id,
            SplitRow(split=name, program_id=program.program_id, group=group, part=part),
        )
        if placed.group != group and placed.part != part:
            raise SplitError(
                f"a program must be in the part of its first ancestor {group}, {part}, "
                f"got {program.name} in {placed.part} of {name}"
            )
        if (placed.part == EVALUATION) != is_held_out:
            raise SplitError(
                f"evaluation programs and no others must be in part {EVALUATION} of {name}, "
                f"got {program.name} in {placed.part}"
            )
    return [rows[k] for k in sorted(rows)]


def last_split(data_dir: Path) -> str:
    """Return the last split of tables by name; the default of the project where table `splits` has none."""
    names = scan_table(data_dir, table_spec("splits")).select("split").unique().collect()["split"]
    return max(names, default=BY_KERNEL_V2)


def places_by_name(data_dir: Path, split: str = BY_KERNEL) -> list[SplitRow]:
    """Return the places of the programs of tables in a split that is a function of names alone.

    Returns: rows of table `splits`; where that has another split only, the places that this one gives.
    """
    rows = [row for row in read_table(data_dir, table_spec("splits")) if row.split == split]
    return rows or freeze_split(read_table(data_dir, table_spec("programs")), name=split)


def source_signature(program: ProgramRow) -> Signature | None:
    """Return the signature of a program's syntax tree; None when the text is no program."""
    return signature(program.source, program.top)


def freeze_near_split(
    programs: Sequence[ProgramRow],
    *,
    name: str = BY_KERNEL_V2,
    existing: Sequence[SplitRow] = (),
    signature_of: SignatureOf = source_signature,
) -> list[SplitRow]:
    """Place programs in one of NEAR_SPLITS: near-duplicates are on one side, as are sizes and variants.

    Programs are connected when they have a name or a first ancestor in common, equal syntax trees, or similar
    trees or texts (`pipelines.programs.similarity`). Programs that are not ok connect by name and ancestor
    alone: no design is made of them, so they must not join the groups of others. A group is a connected
    component, named after its first program by name. A group near an evaluation program is in part
    `excluded`. So is one that would be learned from and has a program of an evaluation program's name without
    its element type: the same computation in other words. Programs are grouped with all others of the call;
    an existing row stays, except that such a group leaves train and validation. A group takes the part of its
    existing rows, and what is connected to two parts is excluded. In BY_KERNEL_V3 a group with a kernel of a
    field that is left out is in part `fields`.

    Returns: the existing rows of that split and a row for each new program, by program id.
    """
    rows = {r.program_id: r for r in existing if r.split == name}
    left_out = left_out_kernels() if name == BY_KERNEL_V3 else frozenset[str]()
    judged = {untyped_name(p.name) for p in programs if p.stage == EVALUATION}
    signatures = [signature_of(p) if p.status == OK else None for p in programs]
    for members in _components(programs, signatures):
        names = sorted(programs[i].root or programs[i].name for i in members)
        placed = {rows[programs[i].program_id].part for i in members if programs[i].program_id in rows}
        held_out = any(programs[i].stage == EVALUATION for i in members)
        part = EXCLUDED if held_out or len(placed) > 1 else next(iter(placed), _part(name, names[0]))
        if part in PLACED_PARTS and any(is_left_out(programs[i], left_out) for i in members):
            part = FIELDS
        is_judged = not judged.isdisjoint(untyped_name(programs[i].name) for i in members)
        part = EXCLUDED if is_judged and part in LEARNED_PARTS else part
        for program in (programs[i] for i in members):
            own = EVALUATION if program.stage == EVALUATION else part
            group = f"{names[0]}, {own}" if held_out or len(placed) > 1 else names[0]
            row = SplitRow(split=name, program_id=program.program_id, group=group, part=own)
            placed_row = rows.setdefault(program.program_id, row)
            if is_judged and placed_row.part in LEARNED_PARTS:
                rows[program.program_id] = replace(placed_row, part=EXCLUDED)
    return [rows[k] for k in sorted(rows)]


def is_left_out(program: ProgramRow, kernels: Collection[str]) -> bool:
    """Tell whether a program is a kernel of a field that is left out of training."""
    return program.stage == WRITTEN and program.name in kernels


def _components(programs: Sequence[ProgramRow], signatures: Sequence[Signature | None]) -> list[list[int]]:
    """Return the positions of connected programs, by union-find."""
    parents = list(range(len(programs)))

    def root_of(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    first: dict[tuple[str, str], int] = {}
    texts = [
        None if own is None else text_signature(program.source)
        for own, program in zip(signatures, programs, strict=True)
    ]
    pairs = near_pairs(signatures) + near_pairs(texts)
    for place, program in enumerate(programs):
        tree = program.ast_hash if program.status == OK else None
        keys = [("name", program.root or program.name), ("name", program.name), ("tree", tree)]
        pairs += [(first.setdefault((kind, key), place), place) for kind, key in keys if key is not None]
    for one, other in pairs:
        parents[root_of(other)] = root_of(one)
    components: dict[int, list[int]] = {}
    for place in range(len(programs)):
        components.setdefault(root_of(place), []).append(place)
    return list(components.values())


def design_part(split: str, part: str, *memory_delays_cycles: int) -> str:
    """Return part of a design: its program's, and in NEAR_SPLITS UNSEEN_DELAY with an unseen memory delay.

    Args: part: of its program. memory_delays_cycles: of reads and writes.
    Source: LLMulator, section 6.3 trains on 2, 5 and 10 cycles, Figure 12 also has 15.
    """
    unseen = part != EXCLUDED and any(delay not in SEEN_DELAYS for delay in memory_delays_cycles)
    return UNSEEN_DELAY if unseen and split in NEAR_SPLITS else part


HashOf = Callable[[ProgramRow], str | None]
"""The syntax tree hash of a program, found from its source."""


def source_hash(program: ProgramRow) -> str | None:
    """Return the hash of a program's syntax tree; None when the text is no program."""
    return ast_hash_or_none(program.source, program.top)


def evaluation_twins(programs: Sequence[ProgramRow], hash_of: HashOf = source_hash) -> list[str]:
    """List ok programs outside of stage evaluation that equal an evaluation program by syntax tree.

    Compared with the frozen list and with the evaluation programs among them. The column `ast_hash` is not
    trusted: each program is hashed.

    Args:    hash_of: finds the hash of a source.
    Returns: a sentence a program, in their order; none when training programs and evaluation are apart.
    """
    names = dict(frozen_hashes())
    for program in programs:
        tree = hash_of(program) if program.stage == EVALUATION else None
        if tree is not None:
            names.setdefault(tree, f"{program.suite}/{program.name}/{program.size}")
    messages: list[str] = []
    for program in programs:
        if program.status == OK and program.stage != EVALUATION:
            tree = hash_of(program)
            if tree is None:
                messages.append(
                    "a training program must have a syntax tree, got none of "
                    f"{program.name} ({program.program_id})"
                )
            elif tree in names:
                messages.append(
                    f"a training program must differ from every evaluation program, got {program.name} "
                    f"({program.program_id}), which equals {names[tree]} by its syntax tree"
                )
    return messages
