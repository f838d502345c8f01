"""From texels to the bytes of a picture."""

from numba import uint64

from memorylab.world.compiled import compiled


@compiled
def look_up(surfaces, texels, columns, colours):
    """The colour of each texel of a row."""
    for i in range(columns):
        colours[i] = surfaces[uint64(texels[i])]


@compiled
def write_row(colours, width, pixels, words, line):
    """Three bytes a pixel; four pixels as three words where rows allow it."""
    if width % 4 == 0:
        for four in range(width // 4):
            at, word = uint64(4 * four), uint64(3 * width // 4 * line + 3 * four)
            c_0, c_1 = colours[at], colours[at + uint64(1)]
            c_2, c_3 = colours[at + uint64(2)], colours[at + uint64(3)]
            words[word] = c_0 | c_1 << uint64(24)
            words[word + uint64(1)] = c_1 >> uint64(8) | c_2 << uint64(16)
            words[word + uint64(2)] = c_2 >> uint64(16) | c_3 << uint64(8)
    else:
        for column in range(width):
            pixel = uint64(3 * (width * line + column))
            pixels[pixel] = colours[column]
            pixels[pixel + uint64(1)] = colours[column] >> uint64(8)
            pixels[pixel + uint64(2)] = colours[column] >> uint64(16)
