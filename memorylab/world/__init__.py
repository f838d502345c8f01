"""What a scene is and how it looks. Knows no task."""
