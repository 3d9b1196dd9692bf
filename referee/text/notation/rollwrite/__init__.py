"""Roll & Write in words and as JSON."""
