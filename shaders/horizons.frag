// How high the land stands around places on water, for each direction of a tile; where there is no water 0, or the most
// where rays are followed.
#include "standing_depth.glsl"
#include "horizons.glsl"

uniform sampler2D surface;
uniform sampler2D skyline;  // elevation of the land; where rays are followed over it, also how high crowns stand over it
uniform sampler2D water;  // depth in metres
uniform vec2 tile;        // texels along its sides
uniform bool rays;        // whether any are followed over the land: then nothing may stand higher than the horizon

out vec2 result;

const int STEPS = 56;
const float BEGINS = 1.0, GROWS = 1.1;  // cells; of steps
const float ACROSS = 0.033;  // of a distance: a third of the way from one direction to the next

// The slope up to what stands at a distance in cells.
float rise_to(vec2 at, float reach, float level) {
    vec4 land = textureLod(skyline, at / frame.map.xy, rays ? log2(max(0.5 * ACROSS * reach, 1.0)) : 0.0);
    return ((land.x + (rays ? land.y : 0.0)) * frame.map.w - level) / (reach * frame.map.z);
}

void main() {
    vec2 texel = floor(gl_FragCoord.xy);
    vec2 place = mod(texel, tile), number = floor(texel / tile);
    vec2 cells_per_texel = frame.map.xy / tile;
    // The level of water in the texel or beside it: it is mirrored between the middles of texels.
    vec2 levels = vec2(0.0);
    for (int k = 0; k < 25; ++k) {
        vec2 at = (place + 0.5 + 0.6 * (vec2(k % 5, k / 5) - 2.0)) * cells_per_texel;
        ivec2 cell = ivec2(clamp(at, vec2(0.0), frame.map.xy - 1.0));
        float depth = standing_depth(water, surface, cell);
        if (depth > 0.0) levels += vec2(texelFetch(surface, cell, 0).x + depth, 1.0);
    }
    // Where rays are followed none ends for what is not known: water that is too narrow to be found.
    result = vec2(rays ? 1.0 : 0.0);
    if (levels.y == 0.0) return;
    float level = levels.x / levels.y * frame.map.w;
    vec2 direction = direction_of((number.y * float(HORIZON_TILES.x) + number.x) * 4.0 / HORIZON_TURNS);
    vec2 from = (place + 0.5) * cells_per_texel, horizon = vec2(0.0);
    float reach = BEGINS;
    for (int i = 0; i < STEPS; ++i) {
        vec2 at = from + reach * direction;
        if (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, frame.map.xy))) break;
        float rise = rise_to(at, reach, level);
        if (rays) {  // also what stands between the directions, and between the steps
            vec2 aside = ACROSS * reach * vec2(-direction.y, direction.x);
            float onward = sqrt(GROWS);
            rise = max(rise, max(rise_to(at + aside, reach, level), rise_to(at - aside, reach, level)));
            rise = max(rise, rise_to(from + onward * (at - from), onward * reach, level));
        }
        if (rise > horizon.x) horizon = vec2(rise, reach * frame.map.z / frame.heights.w);
        reach *= GROWS;
    }
    result = packed_horizon(horizon);
}
