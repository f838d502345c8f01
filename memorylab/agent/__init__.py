"""The Memory Recall Agent: encoder, working memory, episodic memory, heads and auxiliary losses."""

from memorylab.agent.config import MODELS, AgentConfig, model_config
from memorylab.agent.network import Inputs, MemoryRecallAgent, Output

__all__ = ["MODELS", "AgentConfig", "Inputs", "MemoryRecallAgent", "Output", "model_config"]
