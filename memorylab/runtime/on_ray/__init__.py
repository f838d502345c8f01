"""The same actors, learner and evaluation as Ray processes, on one machine or many."""
