// Rock in strata: its colour at a height, with the thin beds that each stratum is made of.
#include "map.glsl"

uniform sampler2D strata;       // by depth below the top of the strata: the root of the albedo, how much it lies in beds

const float BED_TILE = 1.6;      // strata of mean thickness that the noise of beds covers before it comes again
const float BED_LENGTH = 9.0;   // how much longer than thick beds are
const float UNEVEN = 0.10;       // how far contacts wander, as a part of a stratum

struct Rock {
    vec3 albedo;
    vec3 mean;      // of all its beds
    float bedded;  // from 0, massive, to 1
    float ledge;   // how much steeper (+) or flatter (-) than the slope it stands out
};

// `along` are cells on the map, `depth` metres below the top of the strata, `wander` noise around 0 that bends contacts.
Rock rock_in_strata(vec2 along, float depth, float wander, sampler2D noise) {
    depth += UNEVEN * frame.strata.y * wander;
    vec4 told = texture(strata, vec2(depth * frame.strata.x, 0.5));
    float thickness = BED_TILE * frame.strata.y;
    float lateral = dot(along, vec2(0.62, 0.78)) * frame.map.z / (thickness * BED_LENGTH);
    vec4 beds = texture(noise, vec2(lateral, depth / thickness), 0.7) - 0.5;
    // Beds differ in tone, with parting lines between them; pale ones have less colour.
    float tone = 0.55 * beds.x + 0.38 * (smoothstep(-0.14, 0.14, beds.w) - 0.5);
    Rock rock;
    rock.bedded = told.a;
    rock.mean = told.rgb * told.rgb;
    float grey = dot(rock.mean, vec3(0.2126, 0.7152, 0.0722));
    rock.albedo = mix(rock.mean, vec3(grey), told.a * clamp(1.2 * tone, -0.3, 0.45)) * (1.0 + told.a * tone);
    rock.ledge = told.a * 2.2 * beds.z;
    return rock;
}
