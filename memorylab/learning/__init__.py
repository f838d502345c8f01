"""IMPALA's parts: V-trace, losses, actor, learner, evaluation, checkpoints. Each runs in one process by itself."""
