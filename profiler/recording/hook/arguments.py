"""Track what a kernel's arguments are set to, call by call, as plain values that are attached to the kernel.

No argument is kept alive: a program that releases a buffer still gets its memory back.
"""

from __future__ import annotations

import struct
from typing import Any, Tuple

# ("buffer", bytes), ("image", size, channels, type), ("local", bytes), ("value", bytes), ("sampler",),
# ("svm", bytes or None), ("null",)
Argument = Tuple[Any, ...]
Set = Tuple[Argument, int]  # and a buffer's pointer, which makes no launch distinct; 0 for others
_STATE = "_kernelcast_arguments"


class Arguments:
    """Reads the arguments that PyOpenCL is given. `cl` is the module; which classes exist depends on its version."""

    def __init__(self, cl: Any) -> None:
        self._cl = cl
        self._memory = cl._cl.MemoryObjectHolder
        self._image = cl.Image
        self._local = cl.LocalMemory
        self._sampler = cl.Sampler
        self._svm = getattr(cl._cl, "SVMPointer", None) or getattr(cl._cl, "SVM", None)

    def set(self, kernel: Any, index: int, value: object) -> None:
        """Record an argument of any kind."""
        self.of(kernel)[int(index)] = self._read(value)

    def set_bytes(self, kernel: Any, index: int, value: Any) -> None:
        """Record the bytes of a value."""
        self.of(kernel)[int(index)] = (("value", bytes(memoryview(value))), 0)

    def set_packed(self, kernel: Any, index: int, letter: Any, value: Any) -> None:
        """Record a number; `letter` is its format in the module `struct`."""
        letter = letter.decode() if isinstance(letter, bytes) else letter
        if letter not in "fd" and not isinstance(value, bytes):
            value = int(value)
        self.of(kernel)[int(index)] = (("value", struct.pack(letter, value)), 0)

    def of(self, kernel: Any) -> dict[int, Set]:
        """Return the arguments of this kernel that were set, by index."""
        try:
            found: dict[int, Set] = getattr(kernel, _STATE)
        except AttributeError:
            found = {}
            setattr(kernel, _STATE, found)
        return found

    def copy(self, source: Any, kernel: Any) -> None:
        setattr(kernel, _STATE, dict(self.of(source)))

    def _read(self, value: Any) -> Set:
        if isinstance(value, self._memory) and not isinstance(value, self._image):
            return ("buffer", value.size), value.int_ptr
        return self._plain(value), 0

    def _plain(self, value: Any) -> Argument:
        if value is None:
            return ("null",)
        if isinstance(value, self._image):
            return self._image_of(value)
        if isinstance(value, self._local):
            return ("local", value.size)
        if isinstance(value, self._sampler):
            return ("sampler",)
        if self._svm is not None and isinstance(value, self._svm):
            return ("svm", _svm_bytes(value))
        return ("value", bytes(memoryview(value)))

    def _image_of(self, image: Any) -> Argument:
        info, order, kind = self._cl.image_info, self._cl.channel_order, self._cl.channel_type
        size = tuple(max(1, int(image.get_image_info(each))) for each in (info.WIDTH, info.HEIGHT, info.DEPTH))
        layers = getattr(info, "ARRAY_SIZE", None)
        count = int(image.get_image_info(layers)) if layers is not None else 0
        if count:
            size = (size[0], count, 1) if image.type == self._cl.mem_object_type.IMAGE1D_ARRAY else (*size[:2], count)
        channels = order.to_string(image.format.channel_order, "%d").lower()
        return ("image", size, channels, kind.to_string(image.format.channel_data_type, "%d").lower())


def _svm_bytes(value: Any) -> int | None:
    size = getattr(value, "size", None)
    return int(size) if size is not None else getattr(getattr(value, "mem", None), "nbytes", None)
