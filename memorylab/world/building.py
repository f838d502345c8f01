"""What stands in a scene: a hall around a walker, boxes, ovals."""

from memorylab.world.jit import jit

EYE, WALL_HEIGHT = 1.0, 3.0


@jit
def build_hall(game, side, wall_material, floor_material):
    """An open square, `side` metres across, in walls of a metre: its south-west corner is at (1, 1)."""
    game.cell = 1.0
    game.rows = side + 2
    game.columns = side + 2
    game.solid[:] = 1
    game.solid[1 : 1 + side, 1 : 1 + side] = 0
    game.eye = EYE
    game.wall_height = WALL_HEIGHT
    game.wall_material = wall_material
    game.floor_material = floor_material


@jit
def put_box(game, number, x, z, half, bottom, top, material):
    """A solid box with its middle at (x, z); `game.num_boxes` says how many there are."""
    box = game.boxes[number]
    box[0], box[1], box[2], box[3], box[4], box[5] = x - half, x + half, bottom, top, z - half, z + half
    game.box_material[number] = material
    game.box_solid[number] = 1


@jit
def put_oval(game, number, x, y, z, radius, half_height, material):
    """An oval with its middle at (x, y, z), through which one can walk; `game.num_ovals` says how many there are."""
    oval = game.ovals[number]
    oval[0], oval[1], oval[2], oval[3], oval[4] = x, y, z, radius, half_height
    game.oval_material[number] = material
