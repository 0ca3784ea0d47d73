"""What benchweb measured, written as other tools print it: pure functions, so that people's old scripts go on."""
