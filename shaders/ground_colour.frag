// The colour of the ground itself, in no light, seen from straight above: what other programs lay over it.
#include "ground.glsl"

uniform sampler2D water;        // depth in metres

in vec2 uv;  // the first row of the picture is in the north

out vec4 colour;

void main() {
    vec2 cells = uv * frame.map.xy;
    vec4 place = texture(surface, uv);
    vec4 fine = fine_detail(cells), coarse = coarse_detail(cells);
    float hollowness = texture(light, uv).z - 0.5;
    StrataTop top = strata_top_at(uv);
    Ground ground = ground_material(cells, place, top, apparent_steepness(place), hollowness, fine, coarse, NO_RELIEF);
    float submerged = smoothstep(0.0, 0.35 * frame.water.x, textureLod(water, uv, 0.0).x * frame.map.w);
    colour = vec4(mix(ground.albedo, bed_material(fine, coarse, 1.0), 0.9 * submerged), 1.0);
}
