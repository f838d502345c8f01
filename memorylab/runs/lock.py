"""One process writes to a run's folder at a time."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILE = ".lock"
FAR = 2**30  # Windows locks bytes, and nobody else may read them: one far behind the writer's name


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Or one sentence. The system lets go of the lock with the process, however that ends; only its file stays, and
    that of a run which never began goes with its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        take(descriptor, folder)
        try:
            yield
        finally:
            if [path.name for path in folder.iterdir()] == [FILE]:
                (folder / FILE).unlink()
                folder.rmdir()
    finally:
        os.close(descriptor)


def take(descriptor: int, folder: Path) -> None:
    """The lock, without waiting; a file system that has none is told of once."""
    try:
        lock(descriptor)
    except (BlockingIOError, PermissionError):  # somebody has it
        who = os.read(descriptor, 200).decode(errors="replace") or "another process"
        raise ValueError(f"{who} is training in {folder}; wait until it ends, or give another --out") from None
    except (OSError, ImportError) as problem:
        print(f"memorylab: {folder} cannot be locked ({problem}); see that nothing else trains there", file=sys.stderr)
        return
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())


def lock(descriptor: int) -> None:
    """By the system's own means."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        os.lseek(descriptor, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
