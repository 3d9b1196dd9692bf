"""A stand-in for PyNaCl in a browser, where there is no libsodium. Checks nothing itself."""
