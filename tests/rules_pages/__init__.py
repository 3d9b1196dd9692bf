"""What the page of a game's rules says beside its catalogue: a module per game, named by its rules id.

``CITATIONS`` explains the citations; ``appendix`` returns the lines after the rules: components and options. On the
page of the table's rules, ``STAND_IN`` describes the move that TBL-2 enters, and ``RULINGS`` says for every constraint
why a move that breaks it may stand, or may not (TBL-7).
"""
