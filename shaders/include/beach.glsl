// The beach that waves run up, as a film on the ground.
#include "film.glsl"
#include "water.glsl"
#include "waves.glsl"
#include "detail.glsl"

const vec3 BEACH_SAND = vec3(0.440, 0.368, 0.255);
const float WET_GROUND = 0.52;   // of the light that dry ground gives back
const float WET_ROCK = 0.42;      // the same of rock in spray, which algae darken
const vec2 SPLASHED = vec2(0.35, 1.0);
const float BEACH_CELLS = 8.0;   // no beach is wider: see shore_blocks in app/picture/passes/mesh.py

uniform float beach_rises;  // how far up it can reach, beside how far waves run

// Height over the still water of ground that can be a beach; -1 elsewhere.
float beach_height(vec2 uv) {
    vec4 here = textureLod(nearshore, uv, 0.0);
    float away = here.x, height = -here.z;
    // Lower ground is no beach, but lies behind a dam or below an outlet.
    return away > 0.0 || away < -BEACH_CELLS || height < 0.0 ? -1.0 : height;
}

// `pixel` is how much of height a pixel spans, and how many cells; `seen` how much of sun and sky the place sees.
Film beach_film(vec2 east_south, vec2 slope, Shore shore, float height, vec2 pixel, vec3 seen, vec3 to_eye) {
    vec2 cells = east_south / frame.map.z;
    Beach beach = beach_at(east_south, shore, height, pixel, length(slope) / frame.map.w * frame.map.z);
    vec4 fine = texture(detail, cells / 12.0), coarse = texture(detail, cells.yx / 173.0 + 0.37);
    // Waves bring sand, and grind what they reach to it.
    float high = up_the_beach(height, -shore.away, shore.strength) / 1.3 + 0.5 * (fine.x - 0.5) + 0.7 * (coarse.x - 0.5);
    float sandy = traces_of_waves(shore.strength) * (1.0 - smoothstep(0.5, 1.3, high))
                * (1.0 - smoothstep(0.35, 0.75, length(slope) + 0.4 * (fine.w - 0.5)));
    vec2 bumps = 0.35 * (fine.yz - 0.5);
    vec3 normal = normalize(vec3(-slope.x - bumps.x, 1.0, -slope.y - bumps.y));
    vec3 sand = BEACH_SAND * (0.85 + 0.3 * fine.x)
              * (frame.sun_light.rgb * max(dot(normal, frame.sun.xyz), 0.0) * seen.x + sky_light(normal) * seen.y);

    // Spray keeps rock dark where no sand lies: unevenly, and higher than waves run.
    float splashed = (1.0 - sandy) * traces_of_waves(shore.strength) * (1.0 - smoothstep(SPLASHED.x, SPLASHED.y, high));
    float dark = mix(1.0, WET_GROUND, beach.wet) * mix(1.0, WET_ROCK, splashed);
    vec3 colour = sand * sandy * dark;
    float keep = (1.0 - sandy) * dark;
#if FINE_WATER == 1
    // Wet sand mirrors a little, the water on it more.
    vec3 smooth_normal = normalize(mix(normal, vec3(0.0, 1.0, 0.0), 0.6 * beach.covered));
    float mirror = water_fresnel(max(dot(smooth_normal, to_eye), 0.0), 0.01)
                 * max(beach.covered, 0.5 * beach.wet * beach.wet);
    colour = mix(colour, plain_sky(vec3(-to_eye.x, to_eye.y, -to_eye.z)) * seen.y, mirror);
    keep *= 1.0 - mirror;
#endif
    colour = mix(colour, light_from_foam(FOAM, beach.foam, vec3(0.0, 1.0, 0.0), seen), beach.foam);
    keep *= 1.0 - beach.foam;
    return Film(colour, vec3(keep));
}
