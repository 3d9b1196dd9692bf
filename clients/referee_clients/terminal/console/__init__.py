"""The arbiter's console: every game that one arbiter may rule on, and a ruling in three keys."""
