"""What the page of a game's rules says beside its catalogue: a module a game, named by its rules id.

``CITATIONS`` says what the citations name; ``appendix`` are the lines after the rules: tables and options.
"""
