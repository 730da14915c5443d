"""What makes the project itself, and is not installed: the pictures of the README, and the frozen folder."""
