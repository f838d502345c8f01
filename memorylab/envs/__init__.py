"""How the outside steps a game: gymnasium.Env, gymnasium.vector.VectorEnv, dm_env."""
