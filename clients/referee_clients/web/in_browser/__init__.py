"""The auditor of this program, run in a browser by a Python for browsers (Pyodide), rules and certificates included."""
