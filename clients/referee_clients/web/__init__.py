"""The web face: a gateway that is itself a client of the referee, and the pages that it serves."""
