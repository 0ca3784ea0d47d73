"""What stands between the network and Django: connections, bodies and requests at once are bounded here."""
