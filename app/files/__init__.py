"""What lies on the disk: scenes and worlds, pictures and clips, and how they are written."""
