"""Writes model/devices anew from the facts in this folder. `make catalog` runs it."""

from __future__ import annotations

import argparse
from pathlib import Path

import model
from model.device_catalog import device_to_json
from tests.catalog.neusight import hold, table
from tests.catalog.profiles import profiles

FOLDER = Path(model.__file__).parent / "devices"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--hold", type=Path, metavar="DATA", help="hold the profiles against NeuSight's vector operations"
    )
    arguments = parser.parse_args()
    if arguments.hold:
        print("\n".join(table(hold(arguments.hold))))
        return
    made = {f"{device.id}.json": device_to_json(device, brief=True) for device in profiles()}
    for file in FOLDER.glob("*.json"):
        if file.name not in made:
            file.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, "utf-8")
    print(f"{len(made)} profiles in {FOLDER}")


if __name__ == "__main__":
    main()
