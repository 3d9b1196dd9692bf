"""What is proved and searched of Alhambra, from its rule texts. Z3 decides; ``certificate`` checks without it."""
