"""In the browser: people play the tasks, runs are followed, and what an agent recalled can be seen."""
