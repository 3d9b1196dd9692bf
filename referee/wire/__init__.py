"""Game values and protobuf: one module a game, over one strict decoder."""
