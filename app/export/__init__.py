"""Land for other programs: heights, maps, meshes and pictures of a world, in the formats that they read.

`wishes` says what can be asked for, and `plan` makes a list of files of it, each with its size and its writer. The
formats are tables: to add one is to add a row.
"""
