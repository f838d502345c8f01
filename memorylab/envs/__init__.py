"""How the outside steps a game: gymnasium.Env, gymnasium.vector.VectorEnv, dm_env."""

from memorylab.envs.batch import EnvBatch
from memorylab.envs.single import MemoryEnv
from memorylab.envs.spec import GameSpec, parse_scale
from memorylab.envs.vector import MemoryVectorEnv, vector_env

__all__ = ["EnvBatch", "GameSpec", "MemoryEnv", "MemoryVectorEnv", "parse_scale", "vector_env"]
