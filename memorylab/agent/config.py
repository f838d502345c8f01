"""What an agent is made of, as one configuration; the paper's ten models are settings of it."""

from dataclasses import dataclass, fields, replace
from typing import Literal

from memorylab.agent.controllers import CONTROLLERS
from memorylab.agent.encoders import ENCODERS, SMALLEST_SIDE


@dataclass(frozen=True)
class AgentConfig:
    """The parts of an agent and their sizes; defaults are the paper's for Arbitrary Visuomotor Mapping."""

    controller: str = "lstm"
    """Working memory: ff, lstm, gru or lru."""
    memory: bool = True
    """Episodic memory (MEM)."""
    auxiliary: Literal["none", "cpc", "rec"] = "cpc"
    """Unsupervised loss: contrastive predictive coding, reconstruction or none."""
    jumpy: bool = True
    """Jumpy backpropagation: gradient to W_k, b_k through the distances to what was recalled."""
    encoder: str = "residual"
    """Picture encoder: residual (the paper's), small (fast on a CPU) or normalised (small, for faint stimuli)."""
    height: int = 72
    """Rows of a picture."""
    width: int = 96
    """Columns of a picture."""
    actions: int = 5
    """How many actions the task has."""
    embedding_size: int = 256
    """Size of x_t."""
    hidden_size: int = 512
    """Size of h_t."""
    capacity: int = 1024
    """Slots of the episodic memory."""
    neighbours: int = 10
    """K: slots recalled at each step."""
    key_size: int = 128
    """Size of keys and queries."""
    epsilon: float = 1e-3
    """Added to squared distances: how much a perfect match outweighs the others."""
    cpc_steps: int = 10
    """N: how many steps ahead CPC predicts."""
    encoder_bfloat16: bool = False
    """Run the encoder in bfloat16 (faster on CPUs and GPUs with native support; about 1 % change of the losses)."""

    def __post_init__(self):
        one_of("controller", self.controller, CONTROLLERS)
        one_of("encoder", self.encoder, ENCODERS)
        one_of("auxiliary", self.auxiliary, ("none", "cpc", "rec"))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and value < 1:
                raise ValueError(f"{field.name} must be at least 1, not {value}")
        smallest = SMALLEST_SIDE[self.encoder]
        if min(self.height, self.width) < smallest:
            raise ValueError(
                f"the {self.encoder} encoder needs pictures of at least {smallest} x {smallest} pixels, "
                f"not {self.height} x {self.width}"
            )
        if not self.epsilon > 0:
            raise ValueError(f"epsilon must be above 0, not {self.epsilon}")


def one_of(name: str, value: str, known) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


MODELS: dict[str, dict] = {
    "ff": {"controller": "ff", "memory": False, "auxiliary": "none"},
    "ff+mem": {"controller": "ff", "memory": True, "auxiliary": "none"},
    "ff+mem+cpc": {"controller": "ff", "memory": True, "auxiliary": "cpc"},
    "ff+mem+rec": {"controller": "ff", "memory": True, "auxiliary": "rec"},
    "lstm": {"controller": "lstm", "memory": False, "auxiliary": "none"},
    "lstm+cpc": {"controller": "lstm", "memory": False, "auxiliary": "cpc"},
    "lstm+mem": {"controller": "lstm", "memory": True, "auxiliary": "none"},
    "lstm+mem+rec": {"controller": "lstm", "memory": True, "auxiliary": "rec"},
    "mra": {"controller": "lstm", "memory": True, "auxiliary": "cpc"},
    "mra-njb": {"controller": "lstm", "memory": True, "auxiliary": "cpc", "jumpy": False},
}
"""The paper's ten; `mra` is LSTM+MEM+CPC, `mra-njb` the same without jumpy backpropagation."""

OTHER_NAMES = {"lstm+mem+cpc": "mra", "lstm+mem+cpc-njb": "mra-njb"}


def model_config(name: str, base: AgentConfig | None = None) -> AgentConfig:
    """The configuration of one of the ten models; sizes and the rest are those of `base`."""
    short = name.lower().replace(" ", "")
    short = OTHER_NAMES.get(short, short)
    if short not in MODELS:
        raise ValueError(f"unknown model {name!r}; the models are {', '.join(MODELS)}")
    return replace(base or AgentConfig(), **{"jumpy": True, **MODELS[short]})
