"""Claims about Kingdomino, and the certificates that prove them."""
