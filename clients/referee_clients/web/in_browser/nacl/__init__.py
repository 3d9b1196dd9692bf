"""What stands in place of PyNaCl in a browser, where there is no libsodium. Checks nothing itself."""
