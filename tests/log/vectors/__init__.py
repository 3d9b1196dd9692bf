"""Files of positions and numbers that any engine, in any language, can be measured with."""
