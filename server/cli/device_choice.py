"""Which device a call is about: asked of the drivers at most once, and only if need be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from model.device import Device
from model.device_catalog import builtin_devices, find_builtin, named_builtins
from model.errors import UnknownDevice
from profiler.devices import called, discover, find_device
from profiler.measurement import DeviceGone, MeasureError
from profiler.store import Store, StoreError
from server.analysis.devices import pick_device, shipped_for
from server.cli.output import WrongCallError, warn
from server.text.format import shown_name


def check_devices(device_for: Callable[[str], Device], *wanted: str | None) -> None:
    """Ask for each device that a call names, before anything is done. Raises WrongCallError for one that is unknown."""
    try:
        for each in wanted:
            if each:
                device_for(each)
    except UnknownDevice as error:
        raise WrongCallError(error.message) from None


class Devices:
    """The devices to choose from: this machine's, those calibrated here once, and those known from datasheets."""

    def __init__(self) -> None:
        self._picked: dict[tuple[str, bool], Device] = {}

    @cached_property
    def store(self) -> Store | None:
        """Return the store; None if it cannot be used, which costs the calibration but no answer."""
        try:
            return Store.open()
        except StoreError as error:
            warn(error.message)
            return None

    @cached_property
    def remembered(self) -> tuple[Device, ...]:
        if self.store is None:
            return ()
        try:
            profiles = self.store.profiles()
        except StoreError as error:
            warn(error.message)
            return ()
        if self.store.left_out:
            warn(self.store.left_out)
        return profiles

    @cached_property
    def _outcome(self) -> tuple[Device, ...] | MeasureError:
        try:
            return discover(self)
        except MeasureError as error:
            return error

    def profiles(self) -> tuple[Device, ...]:
        """Return the calibrated profiles, for `discover`."""
        return self.remembered

    @property
    def here(self) -> tuple[Device, ...]:
        """Return the devices of this machine. Raises `MeasureError` (DeviceGone where there is no platform)."""
        if isinstance(self._outcome, MeasureError):
            raise self._outcome
        return self._outcome

    def to_predict_for(self, wanted: str | None) -> Device:
        """Return a known device. Raises `UnknownDevice`."""
        key = (wanted or "", False)
        if key not in self._picked:
            self._picked[key] = self._to_predict_for(wanted)
        return self._picked[key]

    def to_run_on(self, wanted: str | None) -> Device:
        """Return a device of this machine. Raises `MeasureError` or `UnknownDevice`."""
        key = (wanted or "", True)
        if key not in self._picked:
            self._picked[key] = self._to_run_on(wanted)
        return self._picked[key]

    def _to_predict_for(self, wanted: str | None) -> Device:
        remembered = {device.id: device for device in self.remembered}
        shipped = find_builtin(wanted or "")
        if shipped is not None:
            return remembered.get(shipped.id, shipped)  # needs no driver to be woken up
        found: tuple[Device, ...] = ()
        try:
            found = self.here
        except MeasureError as error:
            if not wanted:
                device, _ = pick_device((), (), self.remembered, shipped_for(()))
                warn(f"{error.message}. Predicting for {shown_name(device.name)} ({device.id}).")
                return device
        if not wanted:
            return pick_device((), found, self.remembered, shipped_for(()))[0]
        here = {device.id: device for device in found}
        if wanted not in here and wanted in remembered:
            return remembered[wanted]
        elsewhere = None if called(found, wanted) else self._named_elsewhere(wanted)
        if elsewhere is not None:
            return elsewhere  # not the card here whose name holds this one's
        try:
            return find_device(found, wanted)
        except UnknownDevice:
            # The longer list only where the short one has no answer: `nvidia` means the card that is here.
            shelf = {device.id: device for device in builtin_devices()}
            named_first = {**here, **remembered, **shelf}  # whoever errs meant one of this machine's, most likely
            return find_device(tuple({**named_first, **remembered, **here}.values()), wanted)

    def _to_run_on(self, wanted: str | None) -> Device:
        if not wanted:
            return pick_device((), self.here, (), ())[0]
        elsewhere = None if called(self.here, wanted) else self._named_elsewhere(wanted)
        if elsewhere is None:
            try:
                return find_device(self.here, wanted)
            except UnknownDevice:
                elsewhere = self._known_elsewhere(wanted)
                if elsewhere is None:
                    raise
        here = ", ".join(device.id for device in self.here)
        raise DeviceGone(f"{elsewhere.name} is not in this machine; devices here: {here}")

    def _named_elsewhere(self, wanted: str) -> Device | None:
        """Return the device of exactly this name, once calibrated here or known from datasheets.

        None where there are several.
        """
        known = {device.id: device for device in (*named_builtins(wanted), *called(self.remembered, wanted))}
        return next(iter(known.values())) if len(known) == 1 else None

    def _known_elsewhere(self, wanted: str) -> Device | None:
        try:
            return find_device((*self.remembered, *builtin_devices()), wanted)
        except UnknownDevice:
            return None
