"""Files: scenes and worlds, pictures and clips, and how they are written."""
