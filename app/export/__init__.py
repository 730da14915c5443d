"""Export for other programs: heights, maps, meshes and pictures of a world.

`wishes` has the options, and `plan` turns them into a list of files with sizes and writers. The
formats are tables: to add one is to add a row.
"""
