"""Our games as other people's libraries want them: Stable-Baselines3, Sample Factory, EnvPool's users, dm_memorytasks.

Each module is imported by whoever has its library, so nothing is exported here.
"""

__all__: list[str] = []
