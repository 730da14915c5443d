"""Many worlds: a recipe says which, all cores or a cluster run them, and one Zarr store holds what becomes of them."""
