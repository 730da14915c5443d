"""What kernels and the model both say of buried beds."""

NO_BED = -1.0  # in the place of the cycle of a bed
MOST = 16  # beds of a cell
