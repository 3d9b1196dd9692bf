"""The gateway between browsers and a real referee."""
