"""Pictures and digits: the packaged ones, or a user's own. Even ids are for training, odd ids are held out."""

import gzip
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from memorylab.world.canvas import packed, softened

DATA = Path(__file__).parent / "data"
TILE, COLUMNS, COUNT = 48, 50, 2400
PICTURE_SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"}
MAX_SIDE = 320  # texels: a larger picture is stamped in larger ones, so that 1200 take half a gigabyte at most
MAX_BYTES = 4 * 2**30
HOLDOUT = {"train": 0, "holdout": 1}
PICTURE_HALVES = {"train": "1200 objects with even ids", "holdout": "1200 objects with odd ids"}


class Pictures(NamedTuple):
    """All that one half of the pictures holds."""

    pictures: np.ndarray  # (number, side, side) texels
    zoom: int = 1  # how large each of these is stamped


class Digits(NamedTuple):
    """Digits by class, in the size of the `what` and of the `where` display; class c holds first[c] .. first[c + 1]."""

    first: np.ndarray
    what: np.ndarray  # (number, side, side) texels
    where: np.ndarray


class Nothing(NamedTuple):
    """Stands for stimuli that a task draws itself."""

    holdout: int


def load_nothing(name: str) -> Callable:
    """For tasks that draw their own stimuli: which half of them is all there is to know."""

    def load_stimuli(split, width, source, scales):
        if source is not None:
            raise ValueError(f"{name} draws its own stimuli; leave `stimuli` out")
        return Nothing(HOLDOUT[split])

    return load_stimuli


# --- object pictures


@lru_cache(maxsize=4)  # all environments of a process share them
def packaged_pictures(split: str, side: int) -> np.ndarray:
    """One half of the packaged pictures, (1200, side, side) texels."""
    atlas = decoded_atlas()
    numbers = range(HOLDOUT[split], COUNT, 2)
    corners = ((n // COLUMNS * TILE, n % COLUMNS * TILE) for n in numbers)
    tiles = (atlas.crop((left, top, left + TILE, top + TILE)) for top, left in corners)
    return texels_of((softened(tile, side) for tile in tiles), len(numbers), side)


@cache
def decoded_atlas() -> Image.Image:
    """All packaged pictures in rows of COLUMNS."""
    with Image.open(DATA / "objects.webp") as image:
        return image.convert("RGB")


def texels_of(pictures: Iterable[np.ndarray], number: int, side: int) -> np.ndarray:
    """So many pictures one after the other into one array, which is refused if it would be too large."""
    needed = number * side**2 * 4
    if needed > MAX_BYTES:
        raise ValueError(
            f"stimuli: {number:,} pictures of {side} x {side} texels take {needed / 1e9:.1f} GB, more than the "
            f"{MAX_BYTES / 1e9:.1f} GB that they may; give fewer pictures or a smaller size"
        )
    texels = np.empty((number, side, side), np.uint32)
    for row, picture in zip(texels, pictures, strict=True):
        row[:] = packed(picture) if picture.ndim == 3 else picture * np.uint32(0x010101)
    return texels


def some_pictures(number: int, side: int) -> list[np.ndarray]:
    """So many of the packaged pictures as (side, side, 3), for decoration: no task asks about them."""
    atlas = decoded_atlas()
    tiles = (atlas.crop((column * TILE, 0, (column + 1) * TILE, TILE)) for column in range(number))
    return [np.asarray(tile.resize((side, side), Image.Resampling.LANCZOS)) for tile in tiles]


def folder_pictures(folder: Path, split: str, side: int) -> np.ndarray:
    """A user's own pictures, sorted by file name, id by position."""
    if not folder.is_dir():
        raise ValueError(f"stimuli: {folder} is not a folder")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURE_SUFFIXES)
    if not paths:
        suffixes = ", ".join(sorted(PICTURE_SUFFIXES))
        raise ValueError(f"stimuli: {folder} holds no pictures; files ending in {suffixes} are read")
    chosen = paths[HOLDOUT[split] :: 2]
    return texels_of((softened(read_picture(path, side), side) for path in chosen), len(chosen), side)


def read_picture(path: Path, side: int) -> Image.Image:
    """The picture on a white square, transparent parts white."""
    try:
        with Image.open(path) as image:
            image.draft("RGB", (side, side))
            upright = ImageOps.exif_transpose(image).convert("RGBA")
    except (UnidentifiedImageError, OSError, SyntaxError) as problem:
        raise ValueError(f"stimuli: cannot read the picture {path}: {problem}") from problem
    white = Image.new("RGBA", upright.size, "white")
    flat = Image.alpha_composite(white, upright).convert("RGB")
    return ImageOps.pad(flat, (side, side), Image.Resampling.LANCZOS, color="white")


def load_pictures(split: str, side: int, source: Path | None, needed: int) -> Pictures:
    """The packaged pictures or those of the folder `source`; refuses a half with fewer than `needed`."""
    zoom = next(zoom for zoom in range(1, side + 1) if side % zoom == 0 and side // zoom <= MAX_SIDE)
    side //= zoom
    pictures = packaged_pictures(split, side) if source is None else folder_pictures(source, split, side)
    if len(pictures) < needed:
        raise ValueError(
            f"stimuli: an episode of this scale may show {needed} pictures, but the {split} half "
            f"of {source or 'the packaged ones'} holds {len(pictures)}; give more pictures or fewer trials"
        )
    return Pictures(pictures, zoom)


# --- digits


def read_idx(folder: Path, stem: str) -> np.ndarray:
    """One file of MNIST's own format, plain or gzipped."""
    for path in (folder / stem, folder / f"{stem}.gz"):
        if path.is_file():
            break
    else:
        raise ValueError(f"stimuli: {folder} must hold MNIST's {stem} or {stem}.gz")
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        zeros, kind, rank = struct.unpack_from(">HBB", content)
        shape = struct.unpack_from(f">{rank}I", content, 4)
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * rank).reshape(shape)
    except (OSError, EOFError, struct.error, ValueError) as problem:
        raise ValueError(f"stimuli: {path} is not a readable IDX file: {problem}") from problem
    if zeros != 0 or kind != 8:
        raise ValueError(f"stimuli: {path} is not an IDX file of bytes")
    return values


def load_digits(split: str, what_side: int, where_side: int, source: Path | None) -> Digits:
    """One fixed picture per digit or, from a folder with MNIST's IDX files, all of them."""
    if source is None:
        with np.load(DATA / "digits.npz") as data:
            images, labels = data["images"], np.arange(10)
    else:
        images, labels = read_idx(source, "train-images-idx3-ubyte"), read_idx(source, "train-labels-idx1-ubyte")
        if images.ndim != 3 or labels.shape != images.shape[:1]:
            raise ValueError(f"stimuli: the images {images.shape} and labels {labels.shape} in {source} do not match")
    classes = range(5) if split == "train" else range(5, 10)
    groups = [images[labels == digit] for digit in classes]
    for digit, group in zip(classes, groups, strict=True):
        if len(group) == 0:
            raise ValueError(f"stimuli: {source} holds no picture of the digit {digit}")
    first = np.cumsum([0] + [len(group) for group in groups])
    return Digits(first, resized(groups, what_side), resized(groups, where_side))


def resized(groups: Sequence[np.ndarray], side: int) -> np.ndarray:
    """Grey digits of all groups in a row, as texels."""
    grey = (softened(Image.fromarray(image), side) for group in groups for image in np.ascontiguousarray(group))
    return texels_of(grey, sum(map(len, groups)), side)
