"""How long campaigns take beside the shortest they could."""
