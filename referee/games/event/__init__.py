"""The rules of events: rounds of tables, who plays whom, and what that is worth."""
