"""The commands: each file has its arguments, its help and what it runs."""
