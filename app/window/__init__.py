"""The program in its window: what a person does, and what is told to them."""
