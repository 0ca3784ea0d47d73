"""What is done with several rows that are ticked in a list: compare, export, label."""
