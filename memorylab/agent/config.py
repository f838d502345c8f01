"""What an agent is made of, as one configuration; the paper's ten models are settings of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

from memorylab.agent.registries import AUXILIARY_LOSSES, CONTROLLERS, ENCODERS, MEMORIES
from memorylab.agent.registry import Registry
from memorylab.mistakes import unknown


@dataclass(frozen=True)
class AgentConfig:
    """The parts of an agent and their sizes; defaults are the paper's for Arbitrary Visuomotor Mapping."""

    controller: str = "lstm"
    """Working memory: ff, lstm, gru, lru, transformer or one that was registered."""
    memory: str = "episodic"
    """Episodic memory (MEM): episodic (the paper's), none, one that was registered, or one of ours: familiarity (with a
    sense of what is new), comparison (sees where now differs from then), palette (familiar with colours by the pixel),
    motion (knows how things moved), homing (where it is, and where a place that pays lies), chart (homing, and what
    stands where), survey (where it is among walls, and where it has not been), trail (how it came to what pays) or
    worth (what won over what)."""
    auxiliary: tuple[str, ...] = ("cpc",)
    """Unsupervised losses, any set of cpc (contrastive predictive coding), rec (reconstruction), recollection (ours:
    CPC backwards) and those that were registered."""
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
    settings: dict[str, float] = field(default_factory=dict)
    """Settings that a part has of its own, by PART.NAME, such as transformer.window 16."""

    def __post_init__(self):
        object.__setattr__(self, "memory", memory_name(self.memory))
        object.__setattr__(self, "auxiliary", loss_names(self.auxiliary))
        self.check_settings()
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type is int and value < 1:
                raise ValueError(f"{each.name} must be at least 1, not {value}")
        smallest = ENCODERS.find(self.encoder).smallest_side
        if min(self.height, self.width) < smallest:
            raise ValueError(
                f"the {self.encoder} encoder needs pictures of at least {smallest} x {smallest} pixels, "
                f"not {self.height} x {self.width}"
            )
        if not self.epsilon > 0:
            raise ValueError(f"epsilon must be above 0, not {self.epsilon}")

    def parts(self) -> Iterator[tuple[Registry, str]]:
        """What was chosen of each registry."""
        yield ENCODERS, self.encoder
        yield CONTROLLERS, self.controller
        if self.memory != "none":
            yield MEMORIES, self.memory
        for name in self.auxiliary:
            yield AUXILIARY_LOSSES, name

    def check_settings(self) -> None:
        """Every part is known, and every setting is one of a part."""
        known = [f"{name}.{setting}" for registry, name in self.parts() for setting in registry.settings(name)]
        for name in self.settings:
            if name not in known:
                raise ValueError(f"settings must be of {', '.join(known) or 'a part that has some'}, not {name!r}")


def memory_name(memory: str | bool) -> str:
    """Earlier versions had yes or no."""
    return {True: "episodic", False: "none"}[memory] if isinstance(memory, bool) else memory


def loss_names(auxiliary: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Earlier versions had one, or none."""
    names = (auxiliary,) if isinstance(auxiliary, str) else tuple(auxiliary)
    return () if names == ("none",) else tuple(dict.fromkeys(names))


MODELS: dict[str, dict] = {
    "ff": {"controller": "ff", "memory": "none", "auxiliary": ()},
    "ff+mem": {"controller": "ff", "memory": "episodic", "auxiliary": ()},
    "ff+mem+cpc": {"controller": "ff", "memory": "episodic", "auxiliary": ("cpc",)},
    "ff+mem+rec": {"controller": "ff", "memory": "episodic", "auxiliary": ("rec",)},
    "lstm": {"controller": "lstm", "memory": "none", "auxiliary": ()},
    "lstm+cpc": {"controller": "lstm", "memory": "none", "auxiliary": ("cpc",)},
    "lstm+mem": {"controller": "lstm", "memory": "episodic", "auxiliary": ()},
    "lstm+mem+rec": {"controller": "lstm", "memory": "episodic", "auxiliary": ("rec",)},
    "mra": {"controller": "lstm", "memory": "episodic", "auxiliary": ("cpc",)},
    "mra-njb": {"controller": "lstm", "memory": "episodic", "auxiliary": ("cpc",), "jumpy": False},
}
"""The paper's ten; `mra` is LSTM+MEM+CPC, `mra-njb` the same without jumpy backpropagation."""

OTHER_NAMES = {"lstm+mem+cpc": "mra", "lstm+mem+cpc-njb": "mra-njb"}


def model_config(name: str, base: AgentConfig | None = None) -> AgentConfig:
    """The configuration of one of the ten models; sizes and the rest are those of `base`."""
    short = name.lower().replace(" ", "")
    short = OTHER_NAMES.get(short, short)
    if short not in MODELS:
        raise unknown("model", name, MODELS)
    return replace(base or AgentConfig(), **{"jumpy": True, **MODELS[short]})
