"""What is proved and searched of Kingdomino."""
