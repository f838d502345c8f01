import numpy as np
import pytest
import torch
from small_agents import doubles
from torch import nn

from memorylab.agent import ENCODERS
from memorylab.agent.encoders import ResidualEncoder, Shrink, as_floats

SIZES = [(72, 96), (36, 48), (17, 23), (64, 64), (21, 40)]
ALLOWED = [(name, size) for name in ENCODERS for size in SIZES if min(size) >= ENCODERS[name].smallest_side]


@pytest.mark.parametrize(("name", "size"), [*ALLOWED, ("residual", (1, 1)), ("small", (20, 20))])
def test_x_has_the_embedding_size_for_any_picture(name, size):
    x = ENCODERS[name](*size, 9)(torch.rand(2, 3, *size))
    assert x.shape == (2, 9)
    assert x.isfinite().all()
    assert (x >= 0).all() or name == "normalised"


def test_the_normalised_encoder_is_the_small_one_with_more_contrast_and_x_normalised():
    torch.manual_seed(0)
    small, normalised = (ENCODERS[name](36, 48, 32) for name in ("small", "normalised"))
    normalised.load_state_dict(small.state_dict())
    pictures = torch.rand(4, 3, 36, 48) - 0.5
    x = doubles(small.layer(small.convolutions(6 * pictures)))
    expected = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    np.testing.assert_allclose(doubles(normalised(pictures)), expected, atol=1e-4)


def test_the_residual_encoder_is_the_paper_s():
    """Three blocks of 16, 32 and 32 maps: a convolution, a pooling, two sub-blocks of two convolutions; one layer."""
    encoder = ResidualEncoder(72, 96, 256)
    convolutions = [module for module in encoder.modules() if isinstance(module, nn.Conv2d)]
    assert [(c.in_channels, c.out_channels) for c in convolutions] == (
        [(3, 16)] + 4 * [(16, 16)] + [(16, 32)] + 4 * [(32, 32)] + [(32, 32)] + 4 * [(32, 32)]
    )
    assert len(convolutions) == 15
    assert all(c.kernel_size == (3, 3) and c.stride == (1, 1) for c in convolutions)
    poolings = [module for module in encoder.modules() if isinstance(module, nn.MaxPool2d)]
    assert [(p.kernel_size, p.stride) for p in poolings] == 3 * [(3, 2)]
    assert encoder.layer.weight.shape == (256, 32 * 9 * 12)
    assert sum(p.numel() for p in encoder.parameters()) == 448 + 4 * 2320 + 4640 + 9 * 9248 + 256 * (3456 + 1)


def test_the_residual_encoder_against_loops_over_pixels():
    torch.manual_seed(0)
    encoder = ResidualEncoder(7, 6, 5)
    picture = torch.rand(1, 3, 7, 6)
    maps, layers = doubles(picture)[0], list(encoder.convolutions)
    for block in range(3):
        shrink, *sub_blocks = layers[3 * block : 3 * block + 3]
        maps = slow_pooling(slow_convolution(maps, shrink.convolution))
        for sub_block in sub_blocks:
            inner = slow_convolution(np.maximum(maps, 0), sub_block.first)
            maps = maps + slow_convolution(np.maximum(inner, 0), sub_block.second)
    flat = np.maximum(maps, 0).reshape(-1)
    x = np.maximum(doubles(encoder.layer.weight) @ flat + doubles(encoder.layer.bias), 0)
    np.testing.assert_allclose(doubles(encoder(picture))[0], x, atol=1e-5)


def slow_convolution(maps: np.ndarray, convolution: nn.Conv2d) -> np.ndarray:
    weight, bias = doubles(convolution.weight), doubles(convolution.bias)
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1)))
    out = np.zeros((len(weight), *maps.shape[1:]))
    for o, row, column in np.ndindex(*out.shape):
        out[o, row, column] = bias[o] + (weight[o] * padded[:, row : row + 3, column : column + 3]).sum()
    return out


def slow_pooling(maps: np.ndarray) -> np.ndarray:
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    out = np.zeros((len(maps), (maps.shape[1] + 1) // 2, (maps.shape[2] + 1) // 2))
    for o, row, column in np.ndindex(*out.shape):
        out[o, row, column] = padded[o, 2 * row : 2 * row + 3, 2 * column : 2 * column + 3].max()
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bytes_become_shares_of_one_and_stay_channels_last(dtype):
    pictures = torch.randint(256, (3, 5, 4, 3), dtype=torch.uint8)
    before = pictures.clone()
    floats = as_floats(pictures, dtype)
    assert floats.dtype == dtype
    assert floats.is_contiguous(memory_format=torch.channels_last)
    for b, row, column, colour in np.ndindex(3, 5, 4, 3):
        assert floats[b, colour, row, column] == pytest.approx(int(pictures[b, row, column, colour]) / 255)
    assert torch.equal(pictures, before)


def test_maps_made_again_give_the_same_gradient(monkeypatch):
    pictures = torch.rand(4, 3, 12, 16)
    encoder = ResidualEncoder(12, 16, 8)
    gradients = []
    for kept, forwards in ((0, 2), (2**29, 1)):
        monkeypatch.setattr(Shrink, "KEPT_BYTES", kept)
        made = []
        handle = encoder.convolutions[0].convolution.register_forward_hook(lambda *_, made=made: made.append(1))
        encoder.zero_grad()
        encoder(pictures).square().sum().backward()
        handle.remove()
        assert len(made) == forwards
        gradients.append([p.grad.clone() for p in encoder.parameters()])
    for again, kept in zip(*gradients, strict=True):
        assert torch.equal(again, kept)
