"""The network that all learners of `benchmarks/learners.py` have, in plain PyTorch for those that are not ours."""

from torch import Tensor, nn

HEIGHT, WIDTH, HIDDEN = 36, 48, 128


class SmallEncoder(nn.Module):
    """What `memorylab.agent.encoders.SmallEncoder` is: two strided convolutions and a layer."""

    def __init__(self) -> None:
        super().__init__()
        first, second = nn.Conv2d(3, 16, 8, stride=4), nn.Conv2d(16, 32, 4, stride=2)
        layer = nn.Linear(32 * 3 * 4, HIDDEN)
        for part in (first, second, layer):
            nn.init.orthogonal_(part.weight, gain=2**0.5)
        self.layers = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Flatten(), layer, nn.ReLU())

    def forward(self, pictures: Tensor) -> Tensor:
        """x of floats (B, height, width, 3) in [-1/2, 1/2], which are channels-last as they stand."""
        return self.layers(pictures.permute(0, 3, 1, 2))
