"""What it takes to choose a box by touching it."""

from memorylab.world.jit import jit

TOUCH = 0.05  # a walker this near to a box touches it


@jit
def put_box(game, number, x, z, half, bottom, top, material):
    """A solid box with its middle at (x, z)."""
    box = game.boxes[number]
    box[0], box[1], box[2], box[3], box[4], box[5] = x - half, x + half, bottom, top, z - half, z + half
    game.box_material[number] = material
    game.box_solid[number] = 1


@jit
def touched_box(game, first, last, radius):
    """The box from first to last - 1 that the walker touches; -1 for none."""
    near = radius + TOUCH
    for number in range(first, last):
        west, east, _, _, south, north = game.boxes[number]
        if west < game.x + near and east > game.x - near and south < game.z + near and north > game.z - near:
            return number
    return -1
