// Waves of one period over water of any depth.

// Wave number for that of deep water and a depth, by linear theory: the fit of Guo (2002), which is within 0.75 %, and a
// step of Newton's from there.
float wave_number(float deep, float depth) {
    float square = max(deep * depth, 1e-6);
    float waves = square * pow(1.0 - exp(-pow(square, 1.2454)), -0.40148);  // wave number × depth
    float fall = exp(-2.0 * waves), tanh_of = (1.0 - fall) / (1.0 + fall);
    waves -= (waves * tanh_of - square) / (tanh_of + waves * (1.0 - tanh_of * tanh_of));
    return waves / max(depth, 1e-6 / deep);
}
