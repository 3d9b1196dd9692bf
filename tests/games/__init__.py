"""The rules of the games against slower versions of themselves."""
