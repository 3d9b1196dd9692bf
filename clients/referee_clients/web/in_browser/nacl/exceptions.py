"""The exception of PyNaCl that the auditor catches."""


class CryptoError(Exception):
    """A signature does not hold."""
