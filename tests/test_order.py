"""How long functions and files may be, what has a docstring, and how much of the code is tests."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "memorylab"
FILES = sorted(PACKAGE.rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return {str(path.relative_to(PACKAGE)): ast.parse(path.read_text()) for path in FILES}


def functions(module: ast.Module) -> Iterator[Function]:
    return (node for node in ast.walk(module) if isinstance(node, Function))


def length(function: Function) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def lines(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


def public(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    """The module, class or function itself and all that can be reached from it by names without an underscore."""
    yield name, node
    if isinstance(node, Function):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and not child.name.startswith("_"):
            yield from public(child, f"{name}: {child.name}")


def test_no_function_is_longer_than_40_lines_and_half_are_under_10(modules):
    found = {f"{file}: {each.name}": length(each) for file, module in modules.items() for each in functions(module)}
    assert {name: count for name, count in found.items() if count > 40} == {}
    assert median(found.values()) < 10


def test_no_file_is_longer_than_350_lines():
    counts = {str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in FILES}
    assert {name: count for name, count in counts.items() if count > 350} == {}


def test_whatever_is_public_has_a_docstring(modules):
    found = [(name, node) for file, module in modules.items() for name, node in public(module, file)]
    assert len(found) > 1000
    assert [name for name, node in found if not ast.get_docstring(node)] == []


def test_there_is_enough_of_the_tests():
    assert lines(TESTS) >= 0.7 * lines(PACKAGE)
