"""Ways in beside name and password, and what leads to them."""
