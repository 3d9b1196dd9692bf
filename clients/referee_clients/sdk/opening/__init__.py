"""A new game in the words of an organiser, as `referee new` and the page /desk are given them. Opens nothing itself."""
