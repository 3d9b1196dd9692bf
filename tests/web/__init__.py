"""Tests of the web face: what the browser computes, run by node."""
