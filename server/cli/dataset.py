"""`kernelcast dataset`: its flags, and where each step stands; a step is loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

from server.cli.flags import positive, positive_number
from server.cli.renamed import add_former_flag

_FILES = {
    **dict.fromkeys(("generate", "fetch", "revisit"), "dataset_kernels"),
    "collect": "dataset_collect",
    **dict.fromkeys(("export", "facts", "paces", "split", "stats"), "dataset_files"),
}
_WORK = "folder of the collection's store and progress (a folder of its own among the user's data)"


def add_dataset_flags(parser: argparse.ArgumentParser) -> None:
    """Add a sub-command for each step: kernels into the store, rows into the store, the store into files."""
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True, parser_class=type(parser))

    generate = steps.add_parser("generate", help="put kernels of our own generator into the store")
    _add_work_flag(generate)
    generate.add_argument("--count", type=positive, required=True, metavar="N", help="number of distinct kernels")
    generate.add_argument(
        "--family", dest="families", action="append", default=[], metavar="NAME", help="of this family alone (all)"
    )

    sources = steps.add_parser("fetch", help="download public packages, and put their kernels into the store")
    _add_work_flag(sources)
    sources.add_argument(
        "--origin", dest="origins", action="append", default=[], metavar="NAME", help="of this package alone (all)"
    )
    sources.add_argument("--folder", type=Path, metavar="DIR", help="where to keep what is prepared (WORKDIR/sources)")
    sources.add_argument("--mirrors", type=Path, metavar="DIR", help="git directories of repositories, <owner>+<name>")
    sources.add_argument("--processes", type=positive, default=2, metavar="N", help="packages at the same time (2)")
    offline = sources.add_argument("--offline", action="store_true", help="download nothing, take what is prepared")
    add_former_flag(sources, "--prepared", offline)

    revisit = steps.add_parser(
        "revisit", help="put kernels of a dataset into the store with their launches, to measure them here as well"
    )
    _add_work_flag(revisit)
    _add_data_argument(revisit, "folder of an exported dataset")
    revisit.add_argument(
        "--origin", dest="origins", action="append", default=[], metavar="NAME", help="of this package alone (all)"
    )
    revisit.add_argument("--folder", type=Path, metavar="DIR", help="where sources are kept (WORKDIR/sources)")
    revisit.add_argument("--mirrors", type=Path, metavar="DIR", help="git directories of repositories, <owner>+<name>")
    revisit.add_argument("--processes", type=positive, default=2, metavar="N", help="at the same time (2)")

    collect = steps.add_parser("collect", help="build and time what is in the store; goes on where it was stopped")
    _add_work_flag(collect)
    collect.add_argument(
        "--devices",
        metavar="ID[:N],...",
        help="as `kernelcast devices` names them; -1core behind one: on a single processor; :N: at most N launches of "
        "each kernel (pocl,intel,pocl-1core,intel-1core)",
    )
    collect.add_argument("--minutes", type=positive_number, metavar="M", help="stop after M minutes")
    collect.add_argument(
        "--launches",
        type=positive,
        default=3,
        metavar="N",
        help="launches of each kernel that come before further ones of any kernel (3)",
    )
    collect.add_argument(
        "--chunk", type=positive, default=300, metavar="N", help="kernels that are built, then timed, together (300)"
    )
    jobs = collect.add_argument("--build-jobs", type=positive, metavar="N", help="parallel builds (one per processor)")
    add_former_flag(collect, "--builders", jobs)
    collect.add_argument(
        "--side-by-side",
        type=positive,
        default=2,
        metavar="N",
        help="processes that time on a single processor at the same time, each on its own (2)",
    )
    collect.add_argument(
        "--disturbed-over",
        type=positive_number,
        default=10.0,
        metavar="PERCENT",
        help="of the processors' time that others use, above which a row is measured again, twice at most (10)",
    )
    collect.add_argument(
        "--retry-failed", action="store_true", help="try what was given up in earlier collections once more"
    )
    cluster = collect.add_argument(
        "--cluster",
        metavar="WHERE",
        help="on the workers of a Dask scheduler (tcp://HOST:PORT), or on N worker processes here (local:N)",
    )
    add_former_flag(collect, "--fleet", cluster)

    export = steps.add_parser("export", help="write what was collected as Parquet files")
    works = export.add_argument(
        "--workdir", dest="works", action="append", type=Path, metavar="DIR", help=f"{_WORK}; several make one dataset"
    )
    add_former_flag(export, "--work", works)
    export.add_argument(
        "--machine", default="", metavar="NAME", help="of the host, before its devices' names: NAME/pocl (none)"
    )
    export.add_argument("--add", dest="adds", action="store_true", help="keep the dataset that is there, and add to it")
    _add_data_argument(export, "folder to write to; what was there before is replaced unless --add")

    facts = steps.add_parser("facts", help="find the sources of a dataset's kernels again, and count all launches anew")
    _add_data_argument(facts, "folder of an exported dataset; the facts are written beside it")
    facts.add_argument("--folder", type=Path, metavar="DIR", help="where sources are kept")
    facts.add_argument("--mirrors", type=Path, metavar="DIR", help="git directories of repositories, <owner>+<name>")
    facts.add_argument("--missing", action="store_true", help="keep the facts that are there; count what has none")
    facts.add_argument("--processes", type=positive, default=2, metavar="N", help="at the same time (2)")

    paces = steps.add_parser("paces", help="measure some launches again: how much longer did the rows take than here?")
    _add_data_argument(paces, "folder of an exported dataset; its paces are renewed")
    paces.add_argument(
        "--device", dest="devices", action="append", default=[], metavar="NAME", help="of this device alone (all)"
    )
    paces.add_argument("--minutes", type=positive_number, default=10.0, metavar="M", help="for all devices (10)")

    split = steps.add_parser("split", help="put each kernel into train, validation or test-origins")
    _add_data_argument(split, "folder of an exported dataset")

    stats = steps.add_parser(
        "stats", help="count a dataset and check its promises; the exit status is 1 if one is broken"
    )
    _add_data_argument(stats, "folder of an exported dataset")
    stats.add_argument("--pictures", type=Path, metavar="DIR", help="draw PNGs into this folder, too")
    stats.add_argument("--card", type=Path, metavar="FILE", help="renew the tables in this Markdown file, too")
    stats.add_argument("--json", action="store_true", help="print JSON")


def add_learning_flags(train: argparse.ArgumentParser, evaluate: argparse.ArgumentParser) -> None:
    """Add the flags of `kernelcast train` and `kernelcast evaluate`."""
    _add_data_argument(train, "folder of an exported dataset with its facts")
    train.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder to write weights to")
    train.add_argument("--seed", type=int, default=0, metavar="N", help="of everything that is drawn (0)")
    train.add_argument("--threads", type=positive, default=2, metavar="N", help="of the processor to use (2)")
    _add_data_argument(evaluate, "folder of an exported dataset with its facts")
    evaluate.add_argument("--weights", type=Path, metavar="DIR", help="of these weights (those that ship)")
    readme = evaluate.add_argument(
        "--update-readme", type=Path, metavar="FILE", help="renew the tables in this Markdown file, too"
    )
    add_former_flag(evaluate, "--page", readme)
    evaluate.add_argument("--pictures", type=Path, metavar="DIR", help="draw PNGs into this folder, too")
    evaluate.add_argument("--gpus", action="store_true", help="on public measurements of GPUs, too (ten minutes more)")
    evaluate.add_argument(
        "--sources", type=Path, metavar="DIR",
        help="beside a transformer that reads text alone, too; where `dataset facts --folder` keeps sources",
    )  # fmt: skip
    evaluate.add_argument("--variants", action="store_true", help="of trees, too, on rows in training (half an hour)")
    skip = evaluate.add_argument(
        "--skip-baselines", action="store_true", help="without the baselines that have to be trained for it"
    )
    add_former_flag(evaluate, "--brief", skip)


def _add_data_argument(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help=what)


def _add_work_flag(parser: argparse.ArgumentParser) -> None:
    add_former_flag(parser, "--work", parser.add_argument("--workdir", type=Path, metavar="DIR", help=_WORK))


def run(arguments: argparse.Namespace) -> int:
    """Run the step that was asked for."""
    module = importlib.import_module(f"server.cli.{_FILES[arguments.step]}")
    step: Callable[[argparse.Namespace], int] = getattr(module, f"run_{arguments.step}")
    return step(arguments)
