"""What stands on a cell: nothing, the water of a lake, or the sea."""

DRY, LAKE, SEA = 0, 1, 2
