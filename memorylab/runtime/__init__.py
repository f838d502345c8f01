"""Who calls the parts when: in one process, or on many machines."""
