"""Documents made of chosen runs, in the shape of published reports."""
