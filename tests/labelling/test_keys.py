"""Keys of the cache and of steps stay as they are: another key makes every label and design again."""

from __future__ import annotations

import pytest

from pipelines.base.identity import content_hash
from pipelines.dataset.labelling import LabelOptions, space_in_keys
from pipelines.dataset.labelling.cache import options_in_keys
from pipelines.hls import TOOL
from tests.support.labelling import configuration_space, label_options, with_synthesis

SECOND_TOOLS = {"tools": ("pyosys", "synth_xilinx"), "timeout_s": 60.0, "placement_timeout_s": 7.0}
CHANGED = label_options(
    data_seeds=(0, 1),
    data_kinds=("drawn", "sweep"),
    mapped=False,
    timed_cycles=8192,
    synthesis={**SECOND_TOOLS, "fraction": 0.25, "demanding_fraction": 0.5},
)


@pytest.mark.parametrize(
    ("options", "recorded"),
    [
        (label_options(), "5a41f8e8def0b86d856a7cf7159a1c08"),
        (CHANGED, "698d4b89daecbd4213db949cc56330e3"),
    ],
)
def test_options_of_labels_have_the_recorded_hash(options: LabelOptions, recorded: str) -> None:
    assert content_hash(options_in_keys(options)) == recorded


def test_options_of_other_rows_change_no_hash_of_labels() -> None:
    other = label_options(workers=7, slots={"verilator": 1}, tools=("bambu",))
    other = with_synthesis(
        other,
        liberty="osu035",
        fpga_fraction=0.5,
        fpga_unmapped_fraction=0.5,
        unmapped_most_um2=1.0,
        other_libraries=("osu035",),
        other_library_fraction=0.5,
        other_library_unmapped_fraction=0.5,
    )
    assert options_in_keys(other) == options_in_keys(label_options())


def test_every_other_option_of_synthesis_changes_the_hash_of_labels() -> None:
    plain = options_in_keys(label_options())
    for name in (
        "timeout_s",
        "tools",
        "fraction",
        "demanding_um2_per_ns",
        "all_most_um2",
        "placement_timeout_s",
    ):
        assert options_in_keys(with_synthesis(label_options(), **{name: 0.5})) != plain


def test_configurations_have_the_recorded_hash() -> None:
    grid, sampled = (
        configuration_space(),
        configuration_space(
            memory_delay=(2, 5),
            write_delay=3,
            pipeline=(False,),
            unsafe_math=True,
            unit_limits=("mul_32=1", "fadd=2"),
            sampling="latin_hypercube",
            samples=3,
            seed=2,
            clock_periods_ns=(5.0, 10.0),
            plain_share=0.2,
            varied_share=0.3,
        ),
    )
    assert content_hash(space_in_keys(grid, [TOOL])) == "1617df0a13052f56743aef8e4eca78ad"
    assert content_hash(space_in_keys(sampled, [TOOL, "bambu"])) == "19457f118f36d5405fe4faff1bfcc22a"
