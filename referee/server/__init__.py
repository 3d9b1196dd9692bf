"""The referee as a service: games in play, their storage, the calls, and the public log that it writes."""
