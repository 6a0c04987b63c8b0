"""Labels of meshes that are mapped element by element against those mapped as a whole.

python -m tests.benchmarks.accelerator_hierarchy [--configurations 8]
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.accelerators import network_of
from pipelines.accelerators.dataset import drawn_hardware, label_network
from pipelines.accelerators.labels import Labeller, NetworkLabel
from pipelines.accelerators.networks import drawn_network
from pipelines.silicon.synthesis import find_liberty
from tests.benchmarks.harness import options_parser

_FAMILIES = ("mlp", "resnet", "bert")
_MOST_ELEMENTS = 16


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--configurations", type=int, default=8)
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        worst, number, done = 0.0, 0, 0
        while done < asked.configurations:
            hardware = drawn_hardware(7, number, is_small=True)
            number += 1
            if hardware.rows * hardware.columns > _MOST_ELEMENTS:
                continue
            done += 1
            labels: dict[bool, list[NetworkLabel]] = {}
            cells: dict[bool, int | None] = {}
            for by_element in (False, True):
                labeller = Labeller(
                    hardware=hardware,
                    liberty_path=find_liberty("osu018"),
                    folder=Path(folder),
                    by_element=by_element,
                )
                cells[by_element] = labeller.synthesis.cell_count
                labels[by_element] = [
                    label_network(
                        labeller, network_of(drawn_network(family, "tiny", 3), family), hardware.flows()[0]
                    )
                    for family in _FAMILIES
                ]
            differences = [
                element.core_energy_nj / whole.core_energy_nj - 1
                for whole, element in zip(labels[False], labels[True], strict=True)
            ]
            worst = max(worst, *map(abs, differences))
            said = " ".join(f"{100 * difference:+.2f}" for difference in differences)
            size = f"{hardware.rows} x {hardware.columns} {hardware.dataflow}"
            print(
                f"{size} cells {cells[False]} {cells[True]} energy of {', '.join(_FAMILIES)} in %: {said}",
                flush=True,
            )
    print(f"largest difference {100 * worst:.2f} %")


if __name__ == "__main__":
    main()
