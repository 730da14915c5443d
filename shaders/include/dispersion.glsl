// Waves of one period over water of any depth.

// Wave number for that of deep water and a depth, within 0.75 % of linear theory (Guo 2002). 0 deep on land, it is finite.
float wave_number(float deep, float depth) {
    float shallowness = pow(max(deep * depth, 1e-6), 1.2454);
    return deep * pow(1.0 - exp(-shallowness), -0.40148);
}
