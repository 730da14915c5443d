"""What there is: parameters, climate, materials, plants, layers, the world, and what is shown of it."""
