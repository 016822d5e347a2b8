"""`python -m tests.packages.run`: measure every kernel of three packages and write the table into the README."""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.oracles.compiler.programs import PACKAGES, Source
from tests.packages.measuring import Result, read, results_of, write
from tests.packages.table import document
from tests.real_packages import Unreachable

AT_A_TIME = 4  # programs in one process
CHOSEN = ("silx", "pyclesperanto", "darktable")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(CHOSEN), help=f"of {', '.join(CHOSEN)}; all if none")
    parser.add_argument("--device", default="pocl", help="where to run, as `kernelcast devices` names it")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes at a time")
    parser.add_argument("--kernel", default="", help="only kernels whose name holds this")
    parser.add_argument("--again", default="", metavar="OUTCOME", help="run these again: an outcome, or `all`")
    parser.add_argument("--only", default="", metavar="OUTCOME", help="no kernels but those that had this outcome")
    parser.add_argument("--small", action="store_true", help="an eighth of the size to each side: a quick look")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth program")
    chosen = parser.parse_args()
    everything: list[Result] = []
    for package in chosen.packages:
        try:
            sources = list(PACKAGES[package]())[:: chosen.every]
        except Unreachable as reason:
            print(f"{package}: {reason}")
            continue
        everything += _run(package, sources, chosen)
    if not (chosen.kernel or chosen.only or chosen.small or chosen.every > 1):
        document(everything, chosen.device, is_whole=chosen.packages == list(CHOSEN))


def _run(package: str, sources: list[Source], chosen: argparse.Namespace) -> list[Result]:
    kept = read(package)
    if chosen.only:
        programs = {r.program for r in kept.values() if r.outcome == chosen.only}
        sources = [s for s in sources if s.name in programs]
    again = {chosen.again, chosen.only} - {""}
    known = {key: r for key, r in kept.items() if r.outcome not in again and "all" not in again}
    found: list[Result] = []
    with ProcessPoolExecutor(chosen.jobs) as pool:
        parts = [sources[at : at + AT_A_TIME] for at in range(0, len(sources), AT_A_TIME)]
        waiting = {pool.submit(_some, p, chosen.device, known, chosen.kernel, chosen.small): p for p in parts}
        done = 0
        for future in as_completed(waiting):
            done += len(waiting[future])
            found += future.result()
            measured = sum(r.outcome == "measured" for r in found)
            print(f"{package}: {done} of {len(sources)} programs, {measured} of {len(found)} kernels", flush=True)
    return found


def _some(sources: list[Source], device_id: str, known: dict[str, Result], wanted: str, is_small: bool) -> list[Result]:
    found = []
    for result in results_of(sources, device_id, known, wanted, is_small=is_small):
        if known.get(result.key) != result:
            write(result)
        found.append(result)
    return found


if __name__ == "__main__":
    main()
