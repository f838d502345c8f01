"""The four PsychLab tasks: a head in front of a panel answers by looking."""
