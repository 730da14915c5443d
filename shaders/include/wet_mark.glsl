// What the ground looks like that water has left, as its height above water, which stands for how wet it is.
uniform sampler2D wet_mark;  // of wet_mark.frag; a single 0 where there is none

const float JUST_ABOVE = 0.02;  // metres above water: as wet as it gets

float above_water(float over, ivec2 cell, float nowhere_near) {
    ivec2 last = textureSize(wet_mark, 0) - 1;
    float wet = texelFetch(wet_mark, min(cell, last), 0).x;
    return wet > 0.0 && over < 0.0 ? max(over, mix(-0.5 * nowhere_near, -JUST_ABOVE, wet)) : over;
}
