"""Long comparisons and proofs, beside the tests: nothing of them is in the wheel."""
