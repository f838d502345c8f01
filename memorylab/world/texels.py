"""Which texel of a material a point of a surface shows, how coarse a copy of it, and how bright."""

from numba import float32, int32

from memorylab.world.jit import jit
from memorylab.world.materials import SIZE, SIZE_BITS, STRIDE

FULL_LIGHT = 256
LIGHT_ON_TOP, LIGHT_ON_X, LIGHT_ON_Z = 256.0, 200.0, 232.0  # sides that face east or west are darker
HAZE = 0.02  # how fast light fades with distance, per unit
POSITIVE = SIZE << 10  # makes any place in texels positive, so that it is rounded down


@jit(fastmath=True, inline=True)
def level_of(coarseness):
    """Coarse copies of a texture are for where its texels are smaller than pixels."""
    level = int32(coarseness > float32(1.4)) + int32(coarseness > float32(2.8))
    return int32(level + int32(coarseness > float32(5.6)) + int32(coarseness > float32(11.2)))


@jit(fastmath=True, inline=True)
def start_of(material, level):
    """The first texel of a material's copy of this coarseness."""
    return int32(int32(material * int32(STRIDE)) + int32(int32(STRIDE) - int32(int32(STRIDE) >> int32(2 * level))))


@jit(fastmath=True, inline=True)
def texels_across(u, level):
    """The texel within a row for u, in lengths of the texture, which repeats."""
    whole = int32(u * float32(SIZE) + float32(POSITIVE))
    return int32(int32(whole & int32(SIZE - 1)) >> level)


@jit(fastmath=True, inline=True)
def texels_down(v, level):
    """The texels in the rows above v, which goes upwards."""
    whole = int32(float32(POSITIVE) - v * float32(SIZE))
    return int32(int32(int32(whole & int32(SIZE - 1)) >> level) << int32(int32(SIZE_BITS) - level))


@jit(fastmath=True, inline=True)
def dimmed(light, depth):
    """Haze takes light away with depth."""
    return int32(light / (float32(1) + float32(HAZE) * depth))
