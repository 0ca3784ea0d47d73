"""Jobs that people come with, walked in a real browser with their clicks counted."""
