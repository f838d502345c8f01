"""The scale of a task of trials."""

from dataclasses import dataclass

import numpy as np

from memorylab.tasks.scales import check_seconds, frames, whole

MAX_DELAYS = 32
MAX_TRIALS = 2**31 - 1  # a record counts them in 32 bits
SCALE = np.dtype([("trials", "i4"), ("frames", "i4"), ("num_delays", "i4"), ("delays", "i4", (MAX_DELAYS,))])


@dataclass(frozen=True)
class Session:
    """How long an episode lasts and, where something must be held in mind, for how many frames."""

    trials: int
    seconds: float
    delays: tuple[int, ...] = ()

    def __post_init__(self):
        if np.ndim(self.delays) == 0:
            object.__setattr__(self, "delays", (self.delays,))
        object.__setattr__(self, "delays", tuple(self.delays))
        if not whole(self.trials) or self.trials < 1:
            raise ValueError(f"trials must be a whole number, 1 or more, not {self.trials!r}")
        if self.trials > MAX_TRIALS:
            raise ValueError(f"trials must be {MAX_TRIALS:,} at most, not {self.trials:,}")
        check_seconds(self.seconds)
        if len(self.delays) > MAX_DELAYS or not all(whole(d) and 1 <= d < 1e6 for d in self.delays):
            raise ValueError(f"delays must be up to {MAX_DELAYS} whole numbers of frames, 1 or more, not {self.delays}")

    def record(self) -> tuple:
        """Delays fill up a row of MAX_DELAYS; how many of them count stands before it."""
        delays = np.zeros(MAX_DELAYS, np.int32)
        delays[: len(self.delays)] = self.delays
        return self.trials, frames(self.seconds), len(self.delays), delays

    def text(self) -> str:
        """As the tables show it, such as `50 trials, 300 s, delays 2 4 8`."""
        delays = f", delays {' '.join(map(str, self.delays))}" if self.delays else ""
        return f"{self.trials} trials, {self.seconds:g} s{delays}"
