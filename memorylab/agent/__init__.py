"""The Memory Recall Agent: encoder, working memory, episodic memory, heads and auxiliary losses."""

from memorylab.agent.auxiliary import AuxiliaryLoss
from memorylab.agent.config import MODELS, AgentConfig, model_config
from memorylab.agent.controllers import Controller
from memorylab.agent.encoders import Encoder
from memorylab.agent.memory import Memory, Store
from memorylab.agent.network import Inputs, MemoryRecallAgent, Output
from memorylab.agent.registries import AUXILIARY_LOSSES, CONTROLLERS, ENCODERS, MEMORIES

__all__ = [
    "AUXILIARY_LOSSES",
    "CONTROLLERS",
    "ENCODERS",
    "MEMORIES",
    "MODELS",
    "AgentConfig",
    "AuxiliaryLoss",
    "Controller",
    "Encoder",
    "Inputs",
    "Memory",
    "MemoryRecallAgent",
    "Output",
    "Store",
    "model_config",
]
