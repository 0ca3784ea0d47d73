"""What strangers who mean ill cost those who are at work, and what is left of them."""
