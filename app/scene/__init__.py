"""What a world starts from and every parameter of the program, as one value."""
