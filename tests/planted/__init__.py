"""Faults that are planted in a copy of the product, one at a time: the tests find each of them."""
