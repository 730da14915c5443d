// Rock in strata: its colour at a height, with the thin beds that each stratum is made of.
#include "map.glsl"
#include "strata_top.glsl"

#ifndef DETAIL_SCALES
#define DETAIL_SCALES 1
#endif

uniform vec4 intrusion;         // of its rock: the root of the albedo, its fabric
uniform sampler2D strata;       // by depth below the top of the strata: the root of the albedo; 0 massive, 0.5 in beds, 1 in beds and soft

const float BED_TILE = 1.6;      // strata of mean thickness that the noise of beds covers before it comes again
const float BED_BLUR = 1.62;     // a level of its mipmaps from 0.7 further on
const float BED_SETS = 4.7;      // such tiles over which beds come in sets, some of them darker or thicker than others
const float BED_LENGTH = 9.0;   // how much longer than thick beds are
const float UNEVEN = 0.10;       // how far contacts wander, as a part of a stratum
const float CONTACT = 0.15;      // of an intrusion: over which part of a cell it passes into what it cuts, to either side

struct Rock {
    vec3 albedo;
    vec3 mean;      // of all its beds
    float bedded;  // from 0, massive, to 1
    float ledge;   // how much steeper (+) or flatter (-) than the slope it stands out
    float hard;    // around 0: hard beds are pale
    float hue;     // around 0, by beds
};

// In 8 bits half is a little more.
float soft_by(float fabric) {
    return clamp(2.02 * fabric - 1.02, 0.0, 1.0);
}

// How soft rock is at a height in metres, from 0 to 1.
float softness_of(StrataTop top, float height) {
    float fabric = texture(strata, vec2(clamp((top.height - height) * frame.strata.x, 0.0, 1.0), 0.5)).a;
#if INTRUSIONS == 1
    fabric = mix(fabric, intrusion.a, step(0.5, top.intruded));
#endif
    return soft_by(fabric);
}

// `along` are cells on the map, `height` metres, `wander` noise around 0 that bends contacts. Rock that is not `bare`, not even in part, is not looked up.
Rock rock_in_strata(vec2 along, StrataTop top, float height, float wander, bool bare, sampler2D noise) {
    float depth = top.height - height + UNEVEN * frame.strata.y * wander;
    float thickness = BED_TILE * frame.strata.y;
    float lateral = dot(along, vec2(0.62, 0.78)) * frame.map.z / (thickness * BED_LENGTH);
    vec2 at = vec2(lateral, depth / thickness);
    vec4 sets = vec4(0.0);
#if DETAIL_SCALES > 1
    // No two sets are alike: each stretches its beds, and some hardly show them.
    sets = texture(noise, at / BED_SETS + 0.29, 0.7) - 0.5;
    at.y += 1.1 * sets.w;
#endif
    vec2 down = vec2(depth * frame.strata.x, 0.5);
    mat2 step_of = mat2(dFdx(at), dFdy(at)), step_down = mat2(dFdx(down), dFdy(down));
    if (!bare) return Rock(vec3(0.0), vec3(0.0), 0.0, 0.0, 0.0, 0.0);
    vec4 told = textureGrad(strata, down, step_down[0], step_down[1]);
#if INTRUSIONS == 1
    told = mix(told, intrusion, smoothstep(-CONTACT, CONTACT, top.intruded - 0.5 + CONTACT * wander));
#endif
    vec4 beds = textureGrad(noise, at, BED_BLUR * step_of[0], BED_BLUR * step_of[1]) - 0.5;
#if DETAIL_SCALES > 1
    beds *= clamp(0.55 + 3.5 * sets.x, 0.1, 1.3);
#else
    beds *= 0.55;
#endif
    float bedded = min(2.0 * told.a, 1.0);
    // Beds differ in tone, with parting lines between them; pale ones have less colour.
    float tone = 0.55 * beds.x + 0.38 * (smoothstep(-0.14, 0.14, beds.w) - 0.5) + 0.7 * sets.w;
    Rock rock;
    rock.bedded = bedded;
    rock.hue = beds.y + 0.8 * sets.y;
    rock.mean = told.rgb * told.rgb;
    float grey = dot(rock.mean, vec3(0.2126, 0.7152, 0.0722));
    rock.albedo = mix(rock.mean, vec3(grey), bedded * clamp(1.2 * tone, -0.3, 0.45)) * (1.0 + bedded * tone);
    rock.ledge = bedded * 2.2 * beds.z;
    rock.hard = bedded * tone;
    return rock;
}
