"""Tasks with rooms in which one chooses an object by walking up to it."""
