"""The navigation tasks: find the way, and remember it."""
