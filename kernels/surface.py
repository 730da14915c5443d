"""What wetness and plants are on the surface of each cell, as kernels see it: float32 [cell * STRIDE + one of these].

All are from 0 to 1: how full of water the ground is, how densely grass stands, how densely roots hold the ground, and
which part of the cell the crowns of trees cover. Where no process has left any, the array is empty.
"""

WETNESS, GRASS, ROOTS, CANOPY = range(4)
STRIDE = 4
