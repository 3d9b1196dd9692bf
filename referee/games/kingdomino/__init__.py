"""Kingdomino / Královská zahrada."""
