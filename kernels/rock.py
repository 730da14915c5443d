"""What kernels and the model both say of rock."""

TIGHT = 0.01  # permeability relative to sand below which rock bears the groundwater
# A cell is of the rock of an intrusion all the way down where the top of its strata is said to be so many metres higher
# than it is. It is never half as high.
INTRUDED = float(2**19)
