"""Checkpoints, records and games on disk: whole, or as they were before."""

import errno
import resource
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.presets import preset_config
from memorylab.runs import checkpoints as module
from memorylab.runs.checkpoints import checkpoints, load_checkpoint, save_checkpoint

CONFIG = preset_config("avm")


def saved(folder: Path, *steps: int) -> None:
    for step in steps:
        save_checkpoint(folder, step, {"w": torch.full((3, 2), float(step))}, {"note": str(step)})


def newest(folder: Path) -> tuple[int, float]:
    found = load_checkpoint(folder)
    assert found is not None
    tensors, facts = found
    assert facts["note"] == str(facts["step"])
    return facts["step"], tensors["w"][0, 0].item()


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def test_the_newest_is_loaded_and_the_last_few_are_kept(tmp_path):
    assert load_checkpoint(tmp_path) is None
    saved(tmp_path, 5, 40, 300)
    assert newest(tmp_path) == (300, 300.0)
    assert [path.stem for path in checkpoints(tmp_path)] == ["step-000000000040", "step-000000000300"]
    assert len(list(tmp_path.iterdir())) == 4


def test_layouts_and_types_come_back_bit_for_bit(tmp_path):
    before = {
        "image": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "view": torch.arange(12).view(3, 4).T,
        "number": torch.tensor(7),
        "infinite": torch.tensor([torch.inf, -0.0, torch.nan]),
        "generator": torch.Generator().get_state(),
    }
    save_checkpoint(tmp_path, 1, before, {})
    after, _ = load_checkpoint(tmp_path)
    for name, part in before.items():
        assert after[name].dtype == part.dtype
        assert after[name].numpy().tobytes() == part.contiguous().numpy().tobytes(), name


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
def test_a_truncated_checkpoint_is_passed_over_with_one_sentence(tmp_path, capsys, suffix):
    saved(tmp_path, 5, 6)
    cut_short(tmp_path / f"step-000000000006{suffix}")
    assert newest(tmp_path) == (5, 5.0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "step-000000000006" in lines[0]
    assert "trying the one before" in lines[0]


def test_if_none_can_be_read_that_is_the_error(tmp_path):
    saved(tmp_path, 5, 6)
    for path in tmp_path.glob("*.safetensors"):
        cut_short(path)
    with pytest.raises(ValueError, match=r"none of the checkpoints in .* can be read"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("problem", [SafetensorError("I/O error: No space left"), OSError(errno.ENOSPC, "No space")])
@pytest.mark.parametrize("place", ["save_file", "json"])
def test_a_full_disk_leaves_the_older_ones(tmp_path, monkeypatch, problem, place):
    saved(tmp_path, 5, 6)

    def full(*_, **__):
        raise problem

    with monkeypatch.context() as patch:
        patch.setattr(*((module, "save_file") if place == "save_file" else (Path, "write_text")), full)
        with pytest.raises(OSError, match=r"step-000000000007.safetensors could not be written: .*No space"):
            saved(tmp_path, 7)
    assert newest(tmp_path) == (6, 6.0)
    saved(tmp_path, 8)
    assert newest(tmp_path) == (8, 8.0)
    assert len(list(tmp_path.iterdir())) == 4, "what was left unfinished is cleared"


def test_a_write_that_truly_fails(tmp_path):
    """The system itself refuses to write on, as it does when a disk is full."""
    saved(tmp_path, 5)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError, match=r"step-000000000006.safetensors could not be written"):
            save_checkpoint(tmp_path, 6, {"w": torch.zeros(5000)}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert newest(tmp_path) == (5, 5.0)


@pytest.mark.parametrize("left", ["step-000000000006.unfinished", "step-000000000006.safetensors"])
def test_a_crash_between_the_files_counts_as_no_checkpoint(tmp_path, left):
    saved(tmp_path, 5)
    (tmp_path / left).write_bytes(b"half")
    assert newest(tmp_path) == (5, 5.0)
    saved(tmp_path, 7)
    assert not (tmp_path / left).exists()


# --- games


@pytest.mark.parametrize(("task", "scale"), [("avm", {"trials": 2}), ("sdb", {})])
def test_games_go_on_from_their_state_bit_for_bit(task, scale):
    def made(seed: int) -> MemoryVectorEnv:
        return MemoryVectorEnv(task, num_envs=3, seed=seed, size=(24, 32), threads=1, seconds=4, **scale)

    before, after = made(1), made(2)
    before.reset()
    ends, actions = 0, np.zeros(3, np.int64)
    for step in range(150):
        after.reset(seed=step)  # something else hangs on the panel
        after.set_state(before.get_state())
        before.batch.act("remembering", actions)
        one, other = before.step(actions), after.step(actions)
        for left, right in zip(one[:4], other[:4], strict=True):
            assert left.tobytes() == right.tobytes()
        for name in one[4]:
            assert_same(one[4][name], other[4][name])
        ends += "final_info" in one[4]
    assert ends


def assert_same(left, right) -> None:
    if isinstance(left, dict):
        for name in left:
            assert left[name].tobytes() == right[name].tobytes(), name
    else:
        assert left.tobytes() == right.tobytes()
