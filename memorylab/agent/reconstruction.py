"""Reconstruction (REC; paper, appendix A.4): picture, previous reward and previous action from h_t."""

from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor, nn
from torch.nn import functional as F

from memorylab.agent.auxiliary import AuxiliaryLoss, Metrics
from memorylab.agent.data import Inputs, Output, previous
from memorylab.agent.encoders import BLOCK_MAPS, ResidualSubBlock, as_floats, halved

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class ReconstructionLoss(NamedTuple):
    """Of the picture, the previous action and the previous reward."""

    image: Tensor
    action: Tensor
    reward: Tensor


class TransposedResidual(nn.Module):
    """The transpose of the residual encoder: each layer in reverse, each pooling a transposed convolution."""

    def __init__(self, height: int, width: int, hidden_size: int, embedding_size: int):
        super().__init__()
        sides = [(height, width)]
        for _ in BLOCK_MAPS:
            sides.append((halved(sides[-1][0]), halved(sides[-1][1])))
        self.first = (BLOCK_MAPS[-1], *sides[-1])
        self.layers = nn.Sequential(
            nn.Linear(hidden_size, embedding_size), nn.ReLU(),
            nn.Linear(embedding_size, self.first[0] * self.first[1] * self.first[2]), nn.ReLU(),
        )  # fmt: skip
        blocks: list[nn.Module] = []
        before = BLOCK_MAPS[-1]
        for maps, (rows, columns) in zip(reversed(BLOCK_MAPS), reversed(sides[:-1]), strict=True):
            even = (1 - rows % 2, 1 - columns % 2)  # what makes the side after it the encoder's side before it
            blocks += [ResidualSubBlock(before), ResidualSubBlock(before)]
            blocks += [nn.ConvTranspose2d(before, maps, 3, stride=2, padding=1, output_padding=even)]
            before = maps
        self.blocks = nn.Sequential(*blocks, nn.ReLU(), nn.Conv2d(before, 3, 3, padding=1))

    def forward(self, h: Tensor) -> Tensor:
        """Pictures (S, 3, height, width) as logits."""
        return self.blocks(self.layers(h).view(-1, *self.first))


class Reconstruction(AuxiliaryLoss):
    """c_image L_image + c_action L_action + c_reward L_reward."""

    part = "reconstruction"
    costs = (1.0, 1.0, 1.0)  # of picture, action and reward

    def __init__(self, config: "AgentConfig"):
        super().__init__()
        H = config.hidden_size
        self.actions = config.actions
        self.picture = TransposedResidual(config.height, config.width, H, config.embedding_size)
        self.action = nn.Linear(H, config.actions)
        self.reward = nn.Linear(H, 1)

    def configure(self, learner: Any) -> None:
        """The three costs."""
        self.costs = learner.rec_image_cost, learner.rec_action_cost, learner.rec_reward_cost

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """`rec_image`, `rec_action` and `rec_reward`, each before its cost."""
        h = output.h.flatten(0, 1)
        pictures = as_floats(inputs.pictures.flatten(0, 1), h.dtype)
        before = previous(inputs, self.actions, h.dtype).flatten(0, 1)
        found = self(h, pictures, before[:, 0], before[:, 1:])
        image, action, reward = (cost * part for cost, part in zip(self.costs, found, strict=True))
        return image + action + reward, {f"rec_{name}": part for name, part in found._asdict().items()}

    def forward(self, h: Tensor, pictures: Tensor, rewards: Tensor, actions: Tensor) -> ReconstructionLoss:
        """Means over the samples: h (S, H), pictures (S, 3, height, width) in [0, 1], actions one-hot (S, A).

        The picture's cross-entropy is the mean over its pixels (as in MERLIN), the others half the sum of squares.
        """
        image = F.binary_cross_entropy_with_logits(self.picture(h), pictures)
        action = (self.action(h) - actions).square().sum(-1).mean() / 2
        reward = (self.reward(h)[:, 0] - rewards).square().mean() / 2
        return ReconstructionLoss(image, action, reward)
