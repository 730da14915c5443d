"""What is seen of a snapshot, drawn with OpenGL."""
