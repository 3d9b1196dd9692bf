"""Claims about Alhambra, and the certificates that prove them."""
