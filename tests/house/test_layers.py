"""Imports run one way: server -> profiler -> model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

MAY_IMPORT = {"model": {"model"}, "profiler": {"profiler", "model"}, "server": {"server", "profiler", "model"}}


def _imports(file: Path) -> Iterator[tuple[int, str]]:
    """Every import of one file with its line, wherever it stands: a late import is an import too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            yield node.lineno, package
            yield from ((node.lineno, f"{package}.{alias.name}") for alias in node.names)  # each may be a module


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_lies_below_it(package: str, repository: Path) -> None:
    forbidden = MAY_IMPORT.keys() - MAY_IMPORT[package]
    found = [
        f"{file.relative_to(repository)}:{line} imports {module}"
        for file in sorted((repository / package).rglob("*.py"))
        for line, module in _imports(file)
        if module.split(".")[0] in forbidden
    ]
    assert not found


def test_nothing_that_ships_imports_the_tests(repository: Path) -> None:
    found = [
        f"{file.relative_to(repository)}:{line}"
        for package in MAY_IMPORT
        for file in sorted((repository / package).rglob("*.py"))
        for line, module in _imports(file)
        if module.split(".")[0] in {"tests", "conftest", "pytest"}
    ]
    assert not found


def test_imports_name_their_package_in_full(repository: Path) -> None:
    found = [
        f"{file.relative_to(repository)}:{line} imports {module}"
        for package in MAY_IMPORT
        for file in sorted((repository / package).rglob("*.py"))
        for line, module in _imports(file)
        if module.startswith(".")
    ]
    assert not found


def _loaded_with(file: Path, modules: dict[str, Path], *, for_types: bool = False) -> set[str]:
    """Return our own modules that importing `file` imports: not those inside functions, nor, unless asked for, those
    for types."""
    found: set[str] = set()
    left: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            left += [*node.orelse, *(node.body if for_types else [])]
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & modules.keys()
            found |= inner or {node.module}
        else:
            left += ast.iter_child_nodes(node)
    return found & modules.keys()


@pytest.mark.parametrize("for_types", [False, True])
def test_no_module_needs_itself_through_others(repository: Path, for_types: bool) -> None:
    modules = {
        ".".join(file.relative_to(repository).with_suffix("").parts).removesuffix(".__init__"): file
        for package in MAY_IMPORT
        for file in (repository / package).rglob("*.py")
    }
    graph = {name: _loaded_with(file, modules, for_types=for_types) - {name} for name, file in modules.items()}
    assert len(graph) > 800
    TopologicalSorter(graph).prepare()  # raises CycleError with the modules of a circle


def test_what_the_extension_leaves_out_is_not_needed_by_what_it_ships(repository: Path) -> None:
    """Its own package lacks what makes datasets, and whatever else an editor asks for must do without."""
    script = (repository / "editors/vscode/scripts/wheel.ts").read_text(encoding="utf-8")
    listed = script.partition("OF_NO_USE_IN_AN_EDITOR = new Set([")[2].partition("]")[0]
    left_out = re.findall(r"'([\w/]+)'", listed)
    assert all((repository / folder).is_dir() for folder in left_out)
    makes_datasets = re.compile(r"server/cli/(dataset_\w+|campaign|training)\.py|profiler/campaign/.*")
    needed = [
        f"{name}: {module}"
        for package in MAY_IMPORT
        for file in sorted((repository / package).rglob("*.py"))
        if not any(folder in (name := file.relative_to(repository).as_posix()) for folder in left_out)
        and not makes_datasets.fullmatch(name)
        for _, module in _imports(file)
        if any(f"{module.replace('.', '/')}/".startswith(f"{folder}/") for folder in left_out)
    ]
    assert needed == []
