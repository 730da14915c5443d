// Running water, which lies in its bed as a part of the ground: its outline, its surface and how white it is.
#include "map.glsl"

uniform sampler2D flow;  // size of the stream, its direction to the east and south, closeness of standing water

const float BANK = 0.115;         // size at which water begins
const float NO_STREAM = 0.6 * BANK;  // less is none, also where pixels are wide
const float RIPPLES = 2.4;        // cells along a tile of ripples: each has one direction
const float STREAKS = 2.5;        // how much longer than wide ripples are
const float FALLS_BEGIN = 0.22, FALLS = 0.85;  // slopes of the bed on which water whitens

struct Stream {
    float depth;  // in units
    float white;
    float tone;   // how much lighter or darker than the mean, where it has been stirred
    vec2 slope;   // of its surface
};

// Smooth between cells: a cubic B-spline out of four linear lookups (Sigg and Hadwiger 2005).
float smooth_size(vec2 uv) {
    vec2 size = vec2(textureSize(flow, 0));
    vec2 at = uv * size - 0.5, cell = floor(at), part = at - cell, rest = 1.0 - part;
    vec2 w0 = rest * rest * rest / 6.0, w3 = part * part * part / 6.0;
    vec2 w1 = 2.0 / 3.0 - 0.5 * part * part * (2.0 - part);
    vec2 w2 = 1.0 - w0 - w1 - w3;
    vec2 low = w0 + w1, high = w2 + w3;
    vec2 first = (cell - 0.5 + w1 / low) / size, second = (cell + 1.5 + w3 / high) / size;
    return low.y * (low.x * texture(flow, first).x + high.x * texture(flow, vec2(second.x, first.y)).x)
         + high.y * (low.x * texture(flow, vec2(first.x, second.y)).x + high.x * texture(flow, second).x);
}

// From 0 where water runs quietly to 1 where it falls.
float rapids(vec2 ground_slope, vec2 along) {
    return smoothstep(FALLS_BEGIN, FALLS, -dot(ground_slope, along));
}

// Ripples and streaks that run downstream: height, slopes along and across. The map is laid out in tiles that overlap;
// in each the pattern keeps one direction, so that it never stretches, however long it runs.
vec3 running_ripples(vec2 cells, sampler2D surface, sampler2D noise) {
    vec2 at = cells / RIPPLES, corner = floor(at), part = smoothstep(0.0, 1.0, at - corner);
    vec3 sum = vec3(0.0);
    float squares = 0.0;
    for (int k = 0; k < 4; ++k) {
        vec2 step_to = vec2(k % 2, k / 2), tile = corner + step_to;
        vec2 weights = mix(1.0 - part, part, step_to);
        float weight = weights.x * weights.y;
        vec2 middle = tile * RIPPLES / frame.map.xy;
        vec2 along = textureLod(flow, middle, 0.0).yz;
        along = dot(along, along) > 1e-8 ? normalize(along) : vec2(1.0, 0.0);
#if FINE_WATER == 1
        float speed = frame.streams.z * (1.0 + 2.0 * rapids(textureLod(surface, middle, 0.0).yz * frame.map.w, along));
#else
        float speed = frame.streams.z;
#endif
        vec2 away = cells - tile * RIPPLES;
        vec2 place = vec2((dot(away, along) - speed * frame.camera.w) / STREAKS, dot(away, vec2(-along.y, along.x)));
        vec4 ripple = texture(noise, place / 7.0 + vec2(hash(tile), hash(tile + 3.1)));
        vec2 slope = ripple.yz - 0.5;
        sum += weight * vec3(ripple.w - 0.5, along * slope.x + vec2(-along.y, along.x) * slope.y);
        squares += weight * weight;
    }
    return sum * inversesqrt(squares);  // as strong where tiles overlap as in their middle
}

// Its size at a place, with banks that are never straight.
float stream_size(vec2 cells, vec2 uv, sampler2D noise) {
    return smooth_size(uv) + 0.05 * (texture(noise, cells / 12.0).x - 0.5);
}

// The part of a pixel, so many cells wide, that a stream of a size covers.
float stream_cover(float size, float pixel) {
    float blur = 0.012 + 0.10 * pixel;
    return smoothstep(BANK - blur, BANK + blur, size);
}

Stream stream_at(float size, vec2 cells, vec2 uv, vec2 ground_slope, sampler2D surface, sampler2D noise) {
    Stream stream;
    stream.depth = 14.0 * max(size - 0.7 * BANK, 0.0);
    vec2 along = textureLod(flow, uv, 0.0).yz;
    float fall = max(-dot(ground_slope, along), 0.0);
    float rapid = rapids(ground_slope, along);
    vec3 ripples = running_ripples(cells, surface, noise);
    stream.slope = -fall * along + ripples.yz * (0.18 + 0.7 * rapid);
    stream.tone = 1.0 + 0.9 * ripples.x;
    stream.white = 0.85 * rapid * smoothstep(0.16 - 0.34 * rapid, 0.30, ripples.x + 0.12 * rapid);
    return stream;
}

// The same from so far that the ripples are finer than a pixel; `along` is the way that it flows.
Stream stream_from_afar(float size, vec2 along, vec2 ground_slope) {
    Stream stream;
    stream.depth = 14.0 * max(size - 0.7 * BANK, 0.0);
    float rapid = rapids(ground_slope, along);
    stream.slope = -max(-dot(ground_slope, along), 0.0) * along;
    stream.tone = 1.0;
    stream.white = 0.85 * rapid * smoothstep(0.16 - 0.34 * rapid, 0.30, 0.12 * rapid);
    return stream;
}

Stream mixed(Stream one, Stream other, float part) {
    return Stream(mix(one.depth, other.depth, part), mix(one.white, other.white, part),
                  mix(one.tone, other.tone, part), mix(one.slope, other.slope, part));
}
