"""The text and pictures that people read and write: words in their languages, notation, pictures, and reports."""
