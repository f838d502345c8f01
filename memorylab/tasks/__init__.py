"""The games: rules only, with their levels as data, their stimuli and their scripted players."""
