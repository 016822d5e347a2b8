"""Kernels and requests made by hand, so that these tests hold without the parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psutil
import pytest

from model.launch.launch import Launch
from model.opencl.kernel import Kernel, KernelAttributes, Parameter, SourceRange
from model.opencl.types import AddressSpace, ImageType, OpaqueType, PointerType, ScalarKind, ScalarType, Type
from profiler.measurement import MeasureRequest

NOWHERE = SourceRange(0, 0, 0, 0)
FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
INT = ScalarType("int", ScalarKind.SIGNED, 4)


class Types:
    """Parameter types in few words."""

    int = INT
    float = FLOAT
    sampler = OpaqueType("sampler_t")
    image2d = ImageType("image2d_t")

    @staticmethod
    def buffer(element: Type = FLOAT, *, const: bool = False) -> PointerType:
        return PointerType(element, AddressSpace.GLOBAL, is_const=const)

    @staticmethod
    def local(element: Type = FLOAT) -> PointerType:
        return PointerType(element, AddressSpace.LOCAL)


@pytest.fixture(scope="session")
def types() -> type[Types]:
    return Types


@pytest.fixture(scope="session")
def make_kernel() -> Callable[..., Kernel]:
    def make(name: str, access: str = "", **parameters: Type) -> Kernel:
        made = tuple(Parameter(key, kind, NOWHERE, access) for key, kind in parameters.items())
        return Kernel(name, made, KernelAttributes(), NOWHERE, NOWHERE, NOWHERE, fingerprint=f"fingerprint-of-{name}")

    return make


@pytest.fixture(scope="session")
def make_request() -> Callable[..., MeasureRequest]:
    def make(source: str, kernel: Kernel, launch: Launch, **more: Any) -> MeasureRequest:
        return MeasureRequest(source, more.pop("path", None), kernel, launch, "pocl", **{"budget_s": 0.5, **more})

    return make


@pytest.fixture
def nothing_left_behind() -> Any:
    """Fails if a test leaves a process of ours running."""
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    yield
    left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    psutil.wait_procs(left, timeout=30)  # for what was killed to be gone, on a machine with much else to do
    assert [p for p in left if p.is_running()] == []
