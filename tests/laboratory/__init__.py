"""What is compared or proved at length, beside the tests: nothing of it is in the wheel."""
