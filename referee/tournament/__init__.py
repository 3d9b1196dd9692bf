"""Tournaments: an event's file, the acts that an organiser enters, and what is made of them."""
