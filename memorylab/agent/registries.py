"""All that an agent can be made of; a class and a line here, or the line in a file of your own, add to it."""

from memorylab.agent.auxiliary import AuxiliaryLoss
from memorylab.agent.chart import ChartMemory
from memorylab.agent.comparison import ComparisonMemory
from memorylab.agent.contrastive import Contrastive
from memorylab.agent.controllers import GRU, LSTM, Controller, FeedForward, GatedLinearRecurrence
from memorylab.agent.encoders import Encoder, NormalisedEncoder, ResidualEncoder, SmallEncoder
from memorylab.agent.episodic import EpisodicMemory
from memorylab.agent.familiarity import FamiliarityMemory
from memorylab.agent.homing import HomingMemory
from memorylab.agent.memory import Memory
from memorylab.agent.motion import MotionMemory
from memorylab.agent.palette import PaletteMemory
from memorylab.agent.recollection import Recollection
from memorylab.agent.reconstruction import Reconstruction
from memorylab.agent.registry import Registry
from memorylab.agent.survey import SurveyMemory
from memorylab.agent.trail import TrailMemory
from memorylab.agent.transformer import TransformerWindow
from memorylab.agent.worth import WorthMemory

ENCODERS: Registry[Encoder] = Registry(
    "encoder", {"residual": ResidualEncoder, "small": SmallEncoder, "normalised": NormalisedEncoder}
)
CONTROLLERS: Registry[Controller] = Registry(
    "controller",
    {
        "ff": FeedForward,
        "lstm": LSTM,
        "gru": GRU,
        "lru": GatedLinearRecurrence,
        "transformer": TransformerWindow,
    },
)
MEMORIES: Registry[Memory] = Registry(
    "memory",
    {
        "episodic": EpisodicMemory,
        "familiarity": FamiliarityMemory,
        "comparison": ComparisonMemory,
        "palette": PaletteMemory,
        "motion": MotionMemory,
        "homing": HomingMemory,
        "chart": ChartMemory,
        "survey": SurveyMemory,
        "trail": TrailMemory,
        "worth": WorthMemory,
    },
    besides=("none",),
)
AUXILIARY_LOSSES: Registry[AuxiliaryLoss] = Registry(
    "auxiliary", {"cpc": Contrastive, "rec": Reconstruction, "recollection": Recollection}
)
