"""The initial terrain: generators and files."""
