"""The arrows between the rooms, and what an import may cost."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WITHOUT_EXTRAS = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("torch", "safetensors", "scipy", "matplotlib", "ray", "starlette", "uvicorn"):
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Missing())
from memorylab.cli import main
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_below_imports_from_above():
    """Elsewhere than here: it keeps the stream that it prints to."""
    run("import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))")


def test_the_suite_does_not_import_pytorch():
    run("import sys, memorylab, memorylab.cli, memorylab.runs; assert 'torch' not in sys.modules")


def test_the_suite_works_without_any_extra_but_the_command_lines():
    assert "arbitrary_visuomotor_mapping" in run(WITHOUT_EXTRAS + "main(['list', '--json'])")
    assert "remembering" in run(WITHOUT_EXTRAS + "main(['baseline', 'avm', '--episodes', '1', '--levels', 'train'])")
