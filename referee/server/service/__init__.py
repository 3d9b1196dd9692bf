"""The referee on the network: gRPC, tokens, errors, streams. What is ruled on a move is decided below."""
