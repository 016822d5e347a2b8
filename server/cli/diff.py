"""`kernelcast diff`: kernels that changed between two versions of a source tree, predicted or measured as pairs."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from model.device import Device
from model.errors import UnknownDevice
from model.launch.config import Config
from model.launch.config_file import CONFIG_NAME
from profiler.side_by_side import SideBySide, measure_side_by_side
from profiler.turns import Stopping
from server.analysis.sources import Sources, no_versions, nothing_measured
from server.analysis.store_cache import StoreCache
from server.cli.comparing import Side as ComparedSide
from server.cli.comparing import Verdict, measure_request
from server.cli.comparing_flags import SUFFIXES
from server.cli.device_choice import Devices, check_devices
from server.cli.flags import file_options
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, json_text, warn, write_text
from server.cli.terminal import cancelled_by_ctrl_c, progress_bar
from server.diff.affected import Affected, Contents, affected
from server.diff.changes import Change, Changes, Measure
from server.diff.exchange import junit, sarif
from server.diff.gate import Accepted, BaselineError, Rule, failing, read_baseline, write_baseline
from server.diff.git import GitError
from server.diff.listing import changes_json, markdown, plain_text, show
from server.diff.sides import Configurations, Side, write_sides
from server.diff.versions import Version, Versions, versions_of
from server.text.escaping import one_line


def run(arguments: argparse.Namespace) -> int:
    """Compare, print and write what was asked for; return 1 if a rule of `--fail-on` holds."""
    if arguments.write_baseline and arguments.baseline is None:
        raise WrongCallError("--write-baseline needs --baseline FILE: the file to write")
    devices = Devices()
    device_for = devices.to_run_on if arguments.measure else devices.to_predict_for
    check_devices(device_for, *arguments.device)
    try:
        accepted = (
            read_baseline(arguments.baseline, may_be_missing=arguments.write_baseline)
            if arguments.baseline is not None
            else Accepted()
        )
        versions = versions_of(arguments.versions, arguments.repository)
        changes = accepted.marked(_changes(versions, devices, arguments))
    except (GitError, BaselineError) as error:
        raise WrongCallError(error.message) from None
    failed = failing(changes, arguments.fail_on)
    if arguments.write_baseline:
        rules = arguments.fail_on or (Rule(Verdict.SLOWER),)
        now_accepted = failing([replace(each, is_accepted=False) for each in changes], rules)
        write_baseline(arguments.baseline, accepted.with_changes(now_accepted))
        failed = []
    _tell(arguments, changes, versions.names, failed)
    return SOME_FAILED if failed else ANSWERED


def _tell(
    arguments: argparse.Namespace, changes: Sequence[Change], names: tuple[str, str], failed: Collection[Change]
) -> None:
    if arguments.format == "text":
        show(changes, names)
    else:
        write_text(_as(arguments.format, changes, names, failed))
    for path in arguments.output:
        try:
            text = _as(SUFFIXES[path.suffix.lower()], changes, names, failed)
            path.write_text(f"{text}\n", encoding="utf-8", errors="replace", newline="\n")
        except OSError as error:
            raise WrongCallError(f"{path} cannot be written: {error.strerror}") from None
    if failed:
        warn(f"--fail-on: {', '.join(dict.fromkeys(f'{each.at.kernel} ({each.verdict})' for each in failed))}")


def _as(form: str, changes: Sequence[Change], names: tuple[str, str], failed: Collection[Change]) -> str:
    match form:
        case "json":
            return json_text(changes_json(changes))
        case "markdown":
            return markdown(changes, names)
        case "sarif":
            return json_text(sarif(changes, failed), indent=1)
        case "junit":
            return junit(changes, failed)
    return plain_text(changes, names)


def _changes(versions: Versions, devices: Devices, arguments: argparse.Namespace) -> list[Change]:
    old, new = Contents(versions.old), Contents(versions.new)
    found = affected(old, new)
    for note in (*versions.old.notes, *versions.new.notes, *found.problems):
        warn(one_line(note))
    if not found.all:
        return []
    with _sides(old, new, found, versions.root, arguments) as (was, now, configurations):
        sources = sources_of(
            StoreCache(), analytic_only=arguments.analytic_only, ignore_recordings=arguments.ignore_recordings,
            ignore_measurements=True,
        )  # fmt: skip
        # What was measured of one version would correct it alone, and not cancel.
        sources = replace(sources, runs_of=nothing_measured, versions_of=no_versions)
        device_for = devices.to_run_on if arguments.measure else devices.to_predict_for

        def version(side: Side) -> Version:
            def config_of(path: str) -> Config | None:
                return configurations.of(path, side.folder)

            own = _recorded_where_it_stands(sources, side)
            options = side.options(file_options(arguments), versions.root)
            forecaster = Forecaster(device_for, own, config_of=lambda file: config_of(side.relative(file)))
            return Version(side, forecaster, options, config_of)

        compared = Changes(version(was), version(now), sources, arguments.tolerance)
        measure: Measure | None = partial(_measured, arguments.budget_s) if arguments.measure else None
        wanted: list[str | None] = list(dict.fromkeys(arguments.device)) or [None]
        if not arguments.device and measure is None:
            wanted += _further_devices(configurations, found, versions.root, device_for)
        return list(_on_each(wanted, lambda each: compared.of(found, each, measure)))


def _further_devices(
    configurations: Configurations, found: Affected, root: Path, device_for: Callable[[str], Device]
) -> Iterator[str]:
    """Yield the ids of the devices that configurations compare with; those that are unknown are named."""
    configs = (configurations.of(path, root) for path in sorted(found.all))
    for name in dict.fromkeys(name for config in configs if config is not None for name in config.compared):
        try:
            yield device_for(name).id
        except UnknownDevice as error:
            warn(f"{CONFIG_NAME}: {error.message}")


def _on_each(wanted: Iterable[str | None], changes_on: Callable[[str | None], Iterable[Change]]) -> Iterator[Change]:
    """Yield the changes on each device, and once those that belong to no device."""
    seen: set[str] = set()
    for at, each in enumerate(wanted):
        if each in seen:
            continue
        own = list(changes_on(each))
        seen |= {change.device.id for change in own if change.device is not None}
        yield from (c for c in own if at == 0 or (c.device is not None and c.verdict is not Verdict.GONE))


@contextmanager
def _sides(
    old: Contents, new: Contents, found: Affected, root: Path, arguments: argparse.Namespace
) -> Iterator[tuple[Side, Side, Configurations]]:
    """Write both versions into a folder that is gone afterwards."""
    configurations = Configurations(new, root)
    options = [file_options(arguments)]
    for path in found.all:
        config = configurations.of(path, root)
        options += [config.options, *(each.spec.options for each in config.launches)] if config else []
    folders = [Path(each) for each in dict.fromkeys(folder for each in options for folder in each.include_dirs)]
    below = [each.relative_to(root).as_posix() for each in folders if each.is_relative_to(root)]
    with tempfile.TemporaryDirectory(prefix="kernelcast-diff-") as folder:
        was, now = write_sides(old, new, found, root, Path(folder).resolve(), below)
        yield was, now, configurations


def _recorded_where_it_stands(sources: Sources, side: Side) -> Sources:
    """Return the sources, which look for launches recorded of the file that the user has."""
    recorded = sources.recorded
    return replace(
        sources,
        recorded=lambda path, kernels: recorded(side.real(path) if path is not None else None, kernels),
    )


def _measured(budget_s: float, sides: tuple[ComparedSide, ComparedSide], name: str) -> SideBySide:
    with cancelled_by_ctrl_c() as cancel, progress_bar(name) as on_progress:
        side = measure_side_by_side(
            [measure_request(each) for each in sides],
            budget_s=budget_s,
            stopping=Stopping(drops_slower=False),
            on_progress=on_progress,
            cancel=cancel,
        )
    if side.was_cancelled:
        raise KeyboardInterrupt
    return side
