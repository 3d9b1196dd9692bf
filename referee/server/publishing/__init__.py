"""The public log of a referee: heads of its games in order, written as tiles, cosigned by witnesses, published."""
