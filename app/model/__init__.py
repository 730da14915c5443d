"""The model: parameters, climate, materials, plants, layers, the world, and its snapshots."""
