"""The referee as a service: games that go on, what they are kept in, the calls, and the public log that it writes."""
