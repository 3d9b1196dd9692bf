"""The texts that people read, by language: pages, reports and rules. A folder is a language, a file in it a part."""
