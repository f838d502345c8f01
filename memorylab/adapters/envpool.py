"""Our vector environment with EnvPool's face, as CleanRL's envpool scripts use it. Needs no library.

`import memorylab.adapters.envpool as envpool` in place of `import envpool`.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from memorylab.adapters.pictures import channels_first, channels_first_space
from memorylab.envs.registration import make_vec
from memorylab.mistakes import unknown


def make(
    task_id: str,
    env_type: str = "gym",
    num_envs: int = 1,
    seed: int | None = None,
    num_threads: int = 0,
    **options: Any,
) -> "Pool":
    """`num_envs` games of a task, by its name, or of a level, by its id in Gymnasium's registry.

    `env_type` is "gym", with the four results a step had before gym 0.26, or "gymnasium", with five. `options` are
    make_vec's (`level`, `size`, scale ...), `channels_first=False` for pictures as ours are, and two of EnvPool's own:
    `reward_clip` has rewards clipped to their sign, `episodic_life` does nothing, for there are no lives to lose.
    """
    if env_type not in ("gym", "gymnasium"):
        raise unknown("env_type", env_type, ("gym", "gymnasium"))
    if options.pop("batch_size", None) not in (None, num_envs):
        raise ValueError(f"batch_size must be num_envs, {num_envs}: all games are stepped at once")
    named = gymnasium.spec(task_id).kwargs if "/" in task_id else {"task": task_id}
    face = options.pop("channels_first", True), options.pop("reward_clip", False)
    options.pop("episodic_life", None)
    threads = num_threads or None
    envs = make_vec(
        **{**named, **options}, num_envs=num_envs, seed=seed, threads=threads, autoreset_mode=AutoresetMode.NEXT_STEP
    )
    return Pool(envs, env_type == "gymnasium", *face)


class Pool:
    """What `make` gives. As with EnvPool `action_space` and `observation_space` are of one game, pictures have their
    channels first, and a step after the end of an episode begins the next one and ignores its action."""

    def __init__(self, envs: Any, is_gymnasium: bool, is_channels_first: bool = True, reward_clip: bool = False):
        self.envs, self.is_gymnasium = envs, is_gymnasium
        self.is_channels_first, self.reward_clip = is_channels_first, reward_clip
        self.num_envs = envs.num_envs
        self.spec, self.metadata, self.render_mode = envs.spec, envs.metadata, envs.render_mode
        space, spaces = envs.single_observation_space, spaces_of(is_gymnasium)
        shape = channels_first_space(space).shape if is_channels_first else space.shape
        self.observation_space = spaces.Box(0, 255, shape, np.uint8)
        self.action_space = spaces.Discrete(int(envs.single_action_space.n))

    def reset(self, **_: Any) -> Any:
        """First pictures; with Gymnasium's face also what is known of the games."""
        pictures, info = self.envs.reset()
        nothing = np.zeros(self.num_envs, np.float32)
        told = self.told(info, nothing, nothing > 0, nothing > 0)
        return (self.seen(pictures), told) if self.is_gymnasium else self.seen(pictures)

    def step(self, actions: np.ndarray, env_id: np.ndarray | None = None) -> tuple:
        """Of all games: pictures, rewards, dones, infos; or terminated and truncated for dones."""
        if env_id is not None and len(env_id) != self.num_envs:
            raise ValueError(f"all {self.num_envs} games are stepped at once, not {len(env_id)} of them")
        pictures, rewards, terminated, truncated, info = self.envs.step(np.asarray(actions))
        told = self.told(info, rewards, terminated, truncated)
        ends = (terminated, truncated) if self.is_gymnasium else (terminated | truncated,)
        return self.seen(pictures), np.sign(rewards) if self.reward_clip else rewards, *ends, told

    def told(self, info: dict, rewards: np.ndarray, terminated: np.ndarray, truncated: np.ndarray) -> dict[str, Any]:
        """What EnvPool tells, and what we do: `reward` is as it was before it was clipped."""
        return {
            **info,
            "env_id": np.arange(self.num_envs, dtype=np.int32),
            "elapsed_step": info["length"].astype(np.int32),
            "lives": np.zeros(self.num_envs, np.int32),
            "reward": rewards.copy(),
            "terminated": terminated.astype(np.int32),
            "TimeLimit.truncated": truncated.copy(),
        }

    def seen(self, pictures: np.ndarray) -> np.ndarray:
        """As networks want them."""
        return channels_first(pictures) if self.is_channels_first else pictures

    def render(self) -> Any:
        """A picture of each game, with render_mode="rgb_array"."""
        return self.envs.render()

    def close(self) -> None:
        """No more steps after this."""
        self.envs.close()

    def __len__(self) -> int:
        return self.num_envs


def spaces_of(is_gymnasium: bool) -> Any:
    """Gym's own where a script asks for gym and has it; they are told apart by their classes."""
    if not is_gymnasium:
        try:
            from gym import spaces
        except ImportError:
            pass
        else:
            return spaces
    return gymnasium.spaces
