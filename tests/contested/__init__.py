"""Random contested games as real, signed files, with what is true after every entry; and readers held against them."""
