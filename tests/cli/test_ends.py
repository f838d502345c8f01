"""How the command ends where nobody waits for it any more: Ctrl-C while it is imported, a pipe that nobody reads."""

import os
import subprocess
import sys

import pytest

# Python imports this first; as if Ctrl-C came when a module is asked for.
INTERRUPTED = """
import os, sys

class CtrlC:
    def find_spec(self, name, *_):
        if name == os.environ["INTERRUPTED"]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
"""


@pytest.mark.parametrize("module", ["gymnasium", "tyro"])
def test_ctrl_c_while_the_command_is_imported_ends_it_without_a_word(tmp_path, module):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED)
    places = os.pathsep.join([str(tmp_path), os.getcwd(), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {"PYTHONPATH": places, "INTERRUPTED": module}
    done = subprocess.run([sys.executable, "-m", "memorylab", "list"], capture_output=True, text=True, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_in_the_program_of_somebody_else_is_theirs(monkeypatch):
    from memorylab.mistakes import end_command

    for program in ("/usr/bin/python", "train.py", ""):
        monkeypatch.setattr(sys, "argv", [program])
        end_command()
    for program in ("-m", "/usr/bin/memorylab", r"C:\Scripts\memorylab.exe"):
        monkeypatch.setattr(sys, "argv", [program])
        with pytest.raises(SystemExit) as ended:
            end_command()
        assert ended.value.code == 130


@pytest.mark.parametrize("form", [["--json"], []])
def test_a_pipe_that_nobody_reads_ends_quietly(form):
    call = [sys.executable, "-m", "memorylab", "list", *form]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        command.stdout.close()
        assert command.stderr.read() == ""
    assert command.returncode == 1
