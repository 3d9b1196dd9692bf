"""Games that were played, on paper: score sheets, adjudications of a record, reports as HTML and as text."""
