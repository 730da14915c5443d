// A streak, from 0 to 1, and how far the bumps of the map are rounded there, in one number.
const float ROUNDED_STEPS = 255.0;

float with_rounded(float streak, float rounded) {
    return min(streak, 0.999) + floor(ROUNDED_STEPS * rounded + 0.5);
}

vec2 streak_and_rounded(float told) {
    return vec2(fract(told), floor(told) / ROUNDED_STEPS);
}
