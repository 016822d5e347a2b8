"""One line a launch: what we count / what Oclgrind counts. `python -m tests.oracles.instructions.compare FILE.cl...`"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.oracles.instructions.compared import Compared, Quantity, compare, read_tasks
from tests.oracles.instructions.simulate import why_missing
from tests.oracles.instructions.task import Compiled


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument(
        "--level", type=Compiled, default=Compiled.FOR_SPEED, help="O3, Oz, or as-is: what Oclgrind makes of the source"
    )
    parser.add_argument("--above", type=float, default=0.0, help="show only launches that deviate by more percent")
    parser.add_argument("--histogram", action="store_true", help="also show what Oclgrind counted")
    arguments = parser.parse_args()
    if reason := why_missing():
        print(reason, file=sys.stderr)
        return 1
    tasks = []
    for file in arguments.files:
        try:
            tasks += read_tasks(file, without=["measure"])
        except ValueError as error:
            print(f"{file}: {error}", file=sys.stderr)
    for one in compare(tasks, arguments.level):
        if one.problem or one.worst_percent >= arguments.above:
            print(_line(one))
            if arguments.histogram and one.executed:
                for name, count in sorted(one.executed.instructions.items(), key=lambda item: -item[1]):
                    print(f"    {count:>12} {name} {one.executed.bytes_moved.get(name, '')}")
    return 0


def _line(one: Compared) -> str:
    title = f"{one.task.path.name}: {one.task.title}"
    if one.problem:
        return f"{title:<60} not executed: {one.problem}"
    return f"{title:<60} {' | '.join(map(_figures, one.quantities))}"


def _figures(quantity: Quantity) -> str:
    counted = "unseen" if quantity.counted is None else f"{quantity.counted:.0f}"
    return f"{quantity.name} {quantity.predicted:.0f} / {counted} {quantity.deviation_percent:+.1f} %"


if __name__ == "__main__":
    sys.exit(main())
