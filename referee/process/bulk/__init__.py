"""Many tasks: each in a process that may die, on whatever runs them, with a file that says what is done."""
