"""The web face: a gateway between browsers and the referee, and itself one of its clients."""
