"""The folder of a run on disk: configuration, metrics, scores, checkpoints, and a recorder for anybody's agent.

Weights need PyTorch, so `memorylab.runs.checkpoints` is imported by whoever wants them.
"""

from memorylab.runs.config import FORMAT, read_config
from memorylab.runs.folder import RunFolder
from memorylab.runs.recorder import ScoreRecorder
from memorylab.runs.scores import ScoreRow, read_scores, standard_error

__all__ = ["FORMAT", "RunFolder", "ScoreRecorder", "ScoreRow", "read_config", "read_scores", "standard_error"]
