"""The referee on the network: gRPC, tokens, errors, streams. The layers below rule on moves."""
