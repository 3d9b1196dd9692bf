"""The public log: heads of games in one tree, published as tiles, cosigned by witnesses."""
