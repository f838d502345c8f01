"""Reconstruction (REC; paper, appendix A.4): picture, previous reward and previous action from h_t."""

from typing import NamedTuple

from torch import Tensor, nn
from torch.nn import functional as F

from memorylab.agent.encoders import BLOCK_MAPS, ResidualSubBlock, halved


class ReconstructionLoss(NamedTuple):
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
        return self.blocks(self.layers(h).view(-1, *self.first))


class Reconstruction(nn.Module):
    def __init__(self, height: int, width: int, hidden_size: int, embedding_size: int, actions: int):
        super().__init__()
        self.picture = TransposedResidual(height, width, hidden_size, embedding_size)
        self.action = nn.Linear(hidden_size, actions)
        self.reward = nn.Linear(hidden_size, 1)

    def forward(self, h: Tensor, pictures: Tensor, rewards: Tensor, actions: Tensor) -> ReconstructionLoss:
        """Means over the samples: h (S, H), pictures (S, 3, height, width) in [0, 1], actions one-hot (S, A).

        The picture's cross-entropy is the mean over its pixels (as in MERLIN), the others half the sum of squares.
        """
        image = F.binary_cross_entropy_with_logits(self.picture(h), pictures)
        action = (self.action(h) - actions).square().sum(-1).mean() / 2
        reward = (self.reward(h)[:, 0] - rewards).square().mean() / 2
        return ReconstructionLoss(image, action, reward)
