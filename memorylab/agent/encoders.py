"""From a picture to x_t. Pictures come as (B, height, width, 3) uint8, which is channels-last as it stands."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from memorylab.agent.kernels import array, centre, suits


class Encoder(nn.Module):
    """Made as `cls(height, width, embedding_size, **settings)`; settings are its own keyword-only arguments.

    `forward` takes pictures (B, 3, height, width), floats in [-1/2, 1/2], channels-last, and gives x (B, X).
    """

    smallest_side = 1  # of a picture that it can take


class ResidualSubBlock(nn.Module):
    """y + conv(ReLU(conv(ReLU(y))))."""

    def __init__(self, maps: int):
        super().__init__()
        self.first = nn.Conv2d(maps, maps, 3, padding=1)
        self.second = nn.Conv2d(maps, maps, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Maps of the same size."""
        return x + self.second(torch.relu(self.first(torch.relu(x))))


class Shrink(nn.Module):
    """A convolution at full size, then pooling to half of it.

    The full-size maps would be most of what a large batch keeps in memory for its gradient; beyond a bound they are
    made again when they are needed.
    """

    KEPT_BYTES = 2**29

    def __init__(self, before: int, maps: int):
        super().__init__()
        self.convolution = nn.Conv2d(before, maps, 3, padding=1)
        self.pooling = nn.MaxPool2d(3, stride=2, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Maps of half the side."""
        full_size = x[:, :1].numel() * self.convolution.out_channels * x.element_size()
        if torch.is_grad_enabled() and full_size > self.KEPT_BYTES:
            return checkpoint(self.shrink, x, use_reentrant=False, preserve_rng_state=False)
        return self.shrink(x)

    def shrink(self, x: Tensor) -> Tensor:
        """The work itself."""
        return self.pooling(self.convolution(x))


BLOCK_MAPS = (16, 32, 32)


def halved(side: int) -> int:
    """The side after a 3 x 3 pooling with stride 2 and a border of 1."""
    return (side + 1) // 2


class ResidualEncoder(Encoder):
    """The paper's (appendix A.2): three blocks of convolution, pooling and two residual sub-blocks, then a layer."""

    def __init__(self, height: int, width: int, embedding_size: int):
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for maps in BLOCK_MAPS:
            layers += [Shrink(before, maps), ResidualSubBlock(maps), ResidualSubBlock(maps)]
            before, height, width = maps, halved(height), halved(width)
        self.convolutions = nn.Sequential(*layers, nn.ReLU(), nn.Flatten())
        self.layer = nn.Linear(before * height * width, embedding_size)

    def forward(self, pictures: Tensor) -> Tensor:
        """x of each picture."""
        return torch.relu(self.layer(self.convolutions(pictures)))


class SmallEncoder(Encoder):
    """Two strided convolutions (the shallow network of IMPALA): the fastest of those measured on a CPU.

    Weights begin orthogonal: what differs in two pictures then differs as much in x, and a memory can tell them apart.
    """

    smallest_side = 20
    CONTRAST = 1.0

    def __init__(self, height: int, width: int, embedding_size: int):
        super().__init__()
        first, second = nn.Conv2d(3, 16, 8, stride=4), nn.Conv2d(16, 32, 4, stride=2)
        self.convolutions = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Flatten())
        rows, columns = (((side - 8) // 4 + 1 - 4) // 2 + 1 for side in (height, width))
        self.layer = nn.Linear(32 * rows * columns, embedding_size)
        for part in (first, second, self.layer):
            nn.init.orthogonal_(part.weight, gain=2**0.5)

    def forward(self, pictures: Tensor) -> Tensor:
        """x of each picture."""
        stretched = pictures if self.CONTRAST == 1 else self.CONTRAST * pictures
        return self.finish(self.layer(self.convolutions(stretched)))

    def finish(self, raw: Tensor) -> Tensor:
        """x from what the layer makes of a picture."""
        return torch.relu(raw)


class NormalisedEncoder(SmallEncoder):
    """The small encoder for faint stimuli: contrast is stretched, and x has mean 0, variance 1 and both signs.

    Pale shapes on a white panel are a small part of a picture's energy; without this, their learning is drowned by
    that of where the gaze is.
    """

    CONTRAST = 6.0

    def finish(self, raw: Tensor) -> Tensor:
        """x from what the layer makes of a picture."""
        return F.layer_norm(raw, raw.shape[-1:])


def as_floats(pictures: Tensor, dtype: torch.dtype) -> Tensor:
    """(B, height, width, 3) bytes to (B, 3, height, width) in [0, 1]; they stay where they are: channels-last."""
    return pictures.permute(0, 3, 1, 2).to(dtype).div_(255)


def centred(pictures: Tensor, dtype: torch.dtype) -> Tensor:
    """The same in [-1/2, 1/2]: such are learned from faster."""
    floats = torch.empty(pictures.shape, dtype=dtype, device=pictures.device)
    if not (suits(floats) and pictures.is_contiguous()):
        return as_floats(pictures, dtype).sub_(0.5)
    centre(array(pictures).reshape(-1), array(floats).reshape(-1))
    return floats.permute(0, 3, 1, 2)
