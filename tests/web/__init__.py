"""The web face: the gateway as strangers call it, and its pages in a real browser."""
