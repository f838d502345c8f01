"""Checkpoints, records and games on disk: whole, or as they were before."""

import errno
import json
import os
import resource
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from memorylab.envs.stamps import OtherGames
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.presets import preset_config
from memorylab.runs import checkpoints as module
from memorylab.runs.checkpoints import LAYOUT, checkpoints, load_checkpoint, save_checkpoint, set_aside

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


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def of_another_step(folder: Path) -> None:
    (folder / "step-000000000006.safetensors").write_bytes((folder / "step-000000000005.safetensors").read_bytes())


def renamed(folder: Path) -> None:
    for suffix in (".safetensors", ".json"):
        data = (folder / "step-000000000005").with_suffix(suffix).read_bytes()
        (folder / "step-000000000006").with_suffix(suffix).write_bytes(data)


def without_moments(folder: Path) -> None:
    save_file({"w": torch.full((3, 2), 6.0)}, folder / "step-000000000006.safetensors")


def another_fact(folder: Path) -> None:
    path = folder / "step-000000000006.json"
    path.write_text(path.read_text().replace('"seconds": 1.5', '"seconds": 3.5'))


def without_its_checksum(folder: Path) -> None:
    path = folder / "step-000000000006.json"
    path.write_text(json.dumps({name: fact for name, fact in json.loads(path.read_text()).items() if name != "sha256"}))


DAMAGES = [
    lambda folder: flip(folder / "step-000000000006.safetensors", -3),
    lambda folder: flip(folder / "step-000000000006.safetensors", 30),
    lambda folder: (folder / "step-000000000006.safetensors").unlink(),
    lambda folder: (folder / "step-000000000006.json").write_text("[" * 100_000),
    lambda folder: (folder / "step-000000000006.json").write_text("[]"),
    lambda folder: save_checkpoint(folder, 6, {"agent.w": torch.tensor([1.0, torch.nan])}, {}),
    lambda folder: save_checkpoint(folder, 6, {"optimiser.0.exp_avg": torch.tensor(torch.inf)}, {}),
    of_another_step,
    renamed,
    without_moments,
    another_fact,
    without_its_checksum,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_is_damaged_is_passed_over_with_one_sentence(tmp_path, capsys, damage):
    for step in (5, 6):
        tensors = {"w": torch.full((3, 2), float(step)), "optimiser.0.exp_avg": torch.ones(2)}
        save_checkpoint(tmp_path, step, tensors, {"note": str(step), "seconds": 1.5})
    assert newest(tmp_path) == (6, 6.0)
    damage(tmp_path)
    assert newest(tmp_path) == (5, 5.0)
    [line] = capsys.readouterr().err.splitlines()
    assert "step-000000000006" in line
    assert "trying the one before" in line


def test_every_flipped_bit_is_noticed(tmp_path):
    saved(tmp_path, 5, 6)
    for path in sorted(tmp_path.glob("step-000000000006.*")):
        whole = path.read_bytes()
        for at in range(0, len(whole), 7):
            flip(path, at)
            assert newest(tmp_path)[0] == 5, (path, at)
            path.write_bytes(whole)
    assert newest(tmp_path)[0] == 6


def test_the_files_say_what_they_are(tmp_path):
    saved(tmp_path, 6)
    with safe_open(tmp_path / "step-000000000006.safetensors", "pt") as file:
        assert file.metadata() == {"step": "6", "layout": str(LAYOUT)}
    facts = json.loads((tmp_path / "step-000000000006.json").read_text())
    assert (facts["step"], facts["layout"], len(facts["sha256"])) == (6, LAYOUT, 64)


def test_those_of_before_there_were_checksums_are_read(tmp_path):
    save_file({"w": torch.full((3, 2), 6.0)}, tmp_path / "step-000000000006.safetensors")
    (tmp_path / "step-000000000006.json").write_text('{"step": 6, "note": "6"}')
    assert newest(tmp_path) == (6, 6.0)


def test_one_of_a_newer_version_is_refused_and_stays(tmp_path, monkeypatch):
    saved(tmp_path, 5)
    with monkeypatch.context() as patch:
        patch.setattr(module, "LAYOUT", LAYOUT + 1)
        saved(tmp_path, 6)
    with pytest.raises(RuntimeError, match=r"a newer version of memorylab wrote .*step-000000000006.json; update"):
        load_checkpoint(tmp_path)


def test_what_a_run_does_not_go_on_from_is_set_aside(tmp_path):
    saved(tmp_path, 5, 6)
    set_aside(tmp_path, 5)
    assert newest(tmp_path) == (5, 5.0)
    assert (tmp_path / "damaged-step-000000000006.safetensors").exists()
    saved(tmp_path, 7)
    assert [path.stem for path in checkpoints(tmp_path)] == ["step-000000000005", "step-000000000007"]


def test_files_and_their_folder_are_on_the_disk_before_a_checkpoint_counts(tmp_path, monkeypatch):
    """In this order, or a power cut could leave the name of a checkpoint without its bytes."""
    events, fsync, rename = [], os.fsync, Path.rename

    def watched_fsync(descriptor: int) -> None:
        events.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    def watched_rename(path: Path, target: Path) -> Path:
        events.append(f"rename to {target.suffix}")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "rename", watched_rename)
    saved(tmp_path, 5)
    assert events == [
        "step-000000000005.unfinished", "step-000000000005.unfinished_facts",
        "rename to .safetensors", "rename to .json", tmp_path.name,
    ]  # fmt: skip


# --- games


def game_states() -> tuple[MemoryVectorEnv, np.ndarray]:
    env = MemoryVectorEnv("avm", num_envs=3, seed=1, size=(24, 32), threads=1)
    env.reset()
    return env, env.get_state()


def test_random_bytes_are_refused_before_compiled_code_sees_them():
    env, state = game_states()
    before = env.batch.records.tobytes()
    for seed in range(3):
        with pytest.raises(ValueError, match="the state of the games is damaged"):
            env.set_state(np.random.default_rng(seed).integers(0, 256, state.shape, np.uint8))
    assert env.batch.records.tobytes() == before


def test_a_flipped_bit_of_a_game_is_refused():
    env, state = game_states()
    for at in (0, 100, env.batch.records.dtype.itemsize - 1, state.shape[1] - 1):
        damaged = state.copy()
        damaged[1, at] ^= 4
        with pytest.raises(ValueError, match="damaged"):
            env.set_state(damaged)
    env.set_state(state)


@pytest.mark.parametrize("others", [{"trials": 7}, {"task": "cr"}, {"stimuli": True}])
def test_games_with_other_settings_are_refused(others, tmp_path):
    """A record of many pictures would point beyond few."""
    if others.pop("stimuli", False):
        for number in range(200):
            Image.new("RGB", (4, 4), (number, 0, 0)).save(tmp_path / f"{number}.png")
        others = {"stimuli": tmp_path}
    env, _ = game_states()
    other = MemoryVectorEnv(**{"task": "avm", **others}, num_envs=3, seed=1, size=(24, 32), threads=1)
    other.reset()
    with pytest.raises(OtherGames):
        env.set_state(other.get_state())


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
