"""Scores, tables and figures: what the runs and the scripted players came to, beside the paper's numbers."""
