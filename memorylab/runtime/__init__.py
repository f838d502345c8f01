"""Who calls the parts when: in one process, or on many machines."""

from memorylab.runtime.in_process import training_here
from memorylab.runtime.protocol import Evaluator, Runtime
from memorylab.runtime.training import Training

__all__ = ["Evaluator", "Runtime", "Training", "training_here"]
