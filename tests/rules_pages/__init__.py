"""What the page of a game's rules says beside its catalogue: a module a game, named by its rules id.

``CITATIONS`` says what the citations name; ``appendix`` are the lines after the rules: tables and options. On the page
of the table's rules ``STAND_IN`` says what TBL-2 enters, and ``RULINGS`` for every constraint why a move that breaks it
may stand, or may not (TBL-7).
"""
