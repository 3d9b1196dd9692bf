"""As PyNaCl's."""


class CryptoError(Exception):
    """A signature does not hold."""
