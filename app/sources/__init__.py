"""What a world starts from: generators and files."""
