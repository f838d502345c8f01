"""No stimulus crosses the split, and a user's own pictures and digits take the place of ours."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import memorylab
from memorylab.envs.batch import EnvBatch
from memorylab.envs.spec import GameSpec
from memorylab.tasks import stimuli
from memorylab.tasks.psychlab.panel import panel_start
from memorylab.world.canvas import packed, softened

DATA = Path(stimuli.__file__).parent / "data"


def tiles() -> np.ndarray:
    """The 2400 packaged pictures by id, cut out one by one."""
    atlas = np.asarray(Image.open(DATA / "objects.webp").convert("RGB"))
    return np.stack([atlas[i // 50 * 48 :, i % 50 * 48 :][:48, :48] for i in range(2400)])


def levels_of(split: str) -> list[str]:
    holdout = [level for level in memorylab.LEVELS if level.startswith("holdout")]
    return holdout if split == "holdout" else [level for level in memorylab.LEVELS if level not in holdout]


@pytest.mark.parametrize("task", ["avm", "cr"])
@pytest.mark.parametrize(("split", "parity"), [("train", 0), ("holdout", 1)])
def test_pictures_of_a_level_are_those_of_its_half(task, split, parity):
    ids = {packed(softened(Image.fromarray(tile), 96)).tobytes(): i for i, tile in enumerate(tiles())}
    assert len(ids) == 2400
    for level in levels_of(split):
        pictures = EnvBatch(GameSpec(task, level), 1).stimuli.pictures
        assert {ids[picture.tobytes()] % 2 for picture in pictures} == {parity}
        assert len(pictures) == 1200


@pytest.mark.parametrize("split", ["train", "holdout"])
def test_change_detection_never_shows_a_colour_of_the_other_half(split):
    train = {(240, 163, 255), (194, 0, 136), (148, 255, 181), (153, 63, 0), (255, 204, 153)}
    holdout = {(116, 10, 255), (157, 204, 0), (255, 168, 187), (94, 241, 242), (255, 255, 0)}
    own, other = (train, holdout) if split == "train" else (holdout, train)
    for level in levels_of(split):
        shown = panel_colours("cd", level, steps=500)
        assert own <= shown
        assert not other & shown


def panel_colours(task: str, level: str, steps: int) -> set:
    env = memorylab.make_vec(task, level, num_envs=16, seed=0)
    env.reset()
    texels, actions = set(), np.zeros(16, np.int64)
    for step in range(steps):
        env.batch.act("remembering", actions)
        env.step(actions)
        if step % 4 == 0:
            texels |= set(np.unique(env.batch.view.surfaces[panel_start(env.batch.view, 0) :]).tolist())
    return {(c & 255, c >> 8 & 255, c >> 16) for c in texels}


@pytest.mark.parametrize(("split", "digits"), [("train", range(5)), ("holdout", range(5, 10))])
def test_digits_of_a_level_are_those_of_its_half(split, digits):
    with np.load(DATA / "digits.npz") as data:
        images = data["images"]
    expected = [softened(Image.fromarray(images[d]), 32) * np.uint32(0x010101) for d in digits]
    for level in levels_of(split):
        np.testing.assert_array_equal(EnvBatch(GameSpec("wtw", level), 1).stimuli.what, expected)


# --- a user's own


@pytest.fixture
def folder(tmp_path):
    for i in range(12):
        colour = (20 * i, 255 - 20 * i, 100)
        Image.new("RGB", (30 + i, 20), colour).save(tmp_path / f"picture{i:02}.png")
    return tmp_path


def test_own_folder_sorted_by_name_even_train_odd_holdout(folder):
    for level, parity in (("train", 0), ("holdout_interpolate", 1)):
        pictures = EnvBatch(GameSpec("avm", level, stimuli=folder, scale={"trials": 6}), 1).stimuli.pictures
        assert [int(picture[48, 48]) & 255 for picture in pictures] == [20 * i for i in range(parity, 12, 2)]
        assert (pictures[:, 0] == 0xFFFFFF).all()  # a wide picture stands on white


def test_own_folder_is_played(folder):
    env = memorylab.make("cr", stimuli=folder, trials=5)
    env.reset(seed=0)
    action = np.zeros(1, np.int64)
    for _ in range(100):
        env.batch.act("remembering", action)
        *_, terminated, _, info = env.step(action[0])
        if terminated:
            break
    assert info["score"] == 5


def test_clear_errors_for_folders(folder, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match=r"holds no pictures"):
        memorylab.make("avm", stimuli=empty)
    with pytest.raises(ValueError, match=r"is not a folder"):
        memorylab.make("avm", stimuli=tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"may show 10 pictures, but the train half .* holds 6"):
        memorylab.make("avm", stimuli=folder)
    with pytest.raises(ValueError, match=r"may show 5000 pictures, but .* packaged ones holds 1200"):
        memorylab.make("cr", trials=5000)
    with pytest.raises(ValueError, match=r"draws its own stimuli"):
        memorylab.make("cd", stimuli=folder)
    (folder / "picture05.png").write_bytes(b"not a picture")
    with pytest.raises(ValueError, match=r"cannot read the picture .*picture05\.png"):
        memorylab.make("avm", "holdout_small", stimuli=folder, trials=3)


def write_idx(path: Path, values: np.ndarray) -> None:
    header = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    content = header + values.tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def test_own_mnist_files(tmp_path):
    labels = np.arange(40, dtype=np.uint8) % 10
    images = np.broadcast_to(np.arange(40, dtype=np.uint8)[:, None, None] * 6, (40, 28, 28))
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", images)
    write_idx(tmp_path / "train-labels-idx1-ubyte", labels)
    env = memorylab.make_vec("wtw", "holdout_small", num_envs=8, seed=0, stimuli=tmp_path)
    digits = env.batch.stimuli
    assert digits.first.tolist() == [0, 4, 8, 12, 16, 20]
    assert set((digits.what[4:8, 0, 0] & 255) // 6 % 10) == {6}  # the second class of the holdout half
    env.reset()
    shown, actions = set(), np.zeros(8, np.int64)
    for _ in range(400):
        env.batch.act("remembering", actions)
        env.step(actions)
        shown |= set(env.batch.records["what"].tolist())
    assert len(shown) > 15  # varied: more pictures than digits


def test_clear_errors_for_mnist_files(tmp_path):
    with pytest.raises(ValueError, match=r"must hold MNIST's train-images-idx3-ubyte"):
        memorylab.make("wtw", stimuli=tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03\0\0")
    with pytest.raises(ValueError, match=r"is not a readable IDX file"):
        memorylab.make("wtw", stimuli=tmp_path)
    write_idx(tmp_path / "train-images-idx3-ubyte", np.zeros((4, 28, 28), np.uint8))
    write_idx(tmp_path / "train-labels-idx1-ubyte", np.arange(4, dtype=np.uint8))
    with pytest.raises(ValueError, match=r"holds no picture of the digit 4"):
        memorylab.make("wtw", stimuli=tmp_path)


# --- memory


def test_pictures_for_wide_views_are_stamped_larger_instead_of_stored_so():
    stored = stimuli.load_pictures("train", 960, None, 1)
    assert stored.pictures.nbytes < 0.5e9
    assert stored.pictures.shape[1] * stored.zoom == 960
    usual = stimuli.load_pictures("train", 96, None, 1)
    assert (usual.pictures.shape, usual.zoom) == ((1200, 96, 96), 1)


def test_more_than_memory_should_hold_is_refused_with_the_number(monkeypatch, tmp_path):
    for number in range(6):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{number}.png")
    monkeypatch.setattr(stimuli, "MAX_BYTES", 2 * 96 * 96 * 4)
    words = r"stimuli: 3 pictures of 96 x 96 texels take 0.0 GB, more than the 0.0 GB that they may"
    with pytest.raises(ValueError, match=words):
        stimuli.load_pictures("train", 96, tmp_path, 1)
    assert len(stimuli.load_pictures("train", 48, tmp_path, 1).pictures) == 3


def test_the_packaged_pictures_are_decoded_once(monkeypatch):
    stimuli.packaged_pictures("train", 8)
    monkeypatch.setattr(Image, "open", lambda *_: pytest.fail("decoded again"))
    stimuli.packaged_pictures("holdout", 8)
    stimuli.some_pictures(2, 16)
