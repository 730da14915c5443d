// Bodies that are scattered over the ground, such as bushes, tufts and stones, and cracks. They are computed, no texture
// is read.
#include "hash.glsl"

const float LARGEST_BODY = 0.29, OFF_CENTRE = 0.36;  // radius, and way from the middle of its square; in squares
const float LONGEST_SHADOW = 1.1;   // shadow, in radii: a body's own square and those beside it are looked at
const float THINS_OUT = 0.15;     // range of density over which a body shrinks until it is gone
const vec2 BODIES_FADE = vec2(0.15, 0.36), CRACKS_FADE = vec2(0.03, 0.10);  // squares in a pixel
const float SHARPEST = 4.2;  // of edges, for a radius
const float CRACK_WIDE = 0.07;

struct Bodies {
    float cover;  // part of the ground that they hide
    float shade;  // part that lies in their shadow, beside them
    float tone;   // of each its own, around 0
    float chance; // of each its own, from 0 to 1
    vec2 lean;    // horizontal part of a direction away from their middle, 1 at the rim
};

const Bodies NO_BODIES = Bodies(0.0, 0.0, 0.0, 0.0, vec2(0.0));

// The part of the ground that bodies of a density from 0 to 1 hide in the mean.
float mean_cover(float density) {
    float number = density < THINS_OUT ? 0.5 * density * density / THINS_OUT : density - 0.5 * THINS_OUT;
    return 0.39 * 3.1416 * LARGEST_BODY * LARGEST_BODY * max(number, 0.0);
}

Bodies mean_bodies(float density, vec2 shadow) {
    float mean = mean_cover(density);
    return Bodies(mean, 0.4 * mean * length(shadow), 0.0, 0.5, vec2(0.0));
}

// How much farther from a middle a place seems to be than it is: there are three and five lobes around it, turned by two
// numbers from -0.5 to 0.5.
float lobes(vec2 away, float far, vec2 turned) {
    vec2 n = away / max(far, 1e-3), square = n * n;
    float three = n.x * (square.x - 3.0 * square.y), aside = n.y * (3.0 * square.x - square.y);
    float five = n.x * (16.0 * square.x * square.x - 20.0 * square.x + 5.0);
    return far * (turned.x * three + turned.y * aside + 0.5 * (turned.x + turned.y) * five);
}

// At most one body stands in each square of a lattice, of which `at` is a place and `pixel` the size of a pixel. Those
// that are finer than that are seen as their mean. `shadow` is how far shadows reach, in radii, `lobed` how far outlines
// are from round.
Bodies bodies_at(vec2 at, float density, float pixel, vec2 shadow, float lobed) {
    Bodies mean = mean_bodies(density, shadow);
    float seen = 1.0 - smoothstep(BODIES_FADE.x, BODIES_FADE.y, pixel);
    Bodies near = NO_BODIES;
    vec2 corner = floor(at - 0.5), per_shadow = shadow / max(dot(shadow, shadow), 1e-4);
    float finest = 0.83 / max(pixel, 1e-4);
    int squares = density > 0.0 && seen > 0.0 ? 4 : 0;  // in software a loop is left out, and a branch is not
    for (int k = 0; k < squares; ++k) {
        vec2 square = corner + vec2(k & 1, k >> 1);
        vec4 own = hash4(square);
        float radius = LARGEST_BODY * (0.4 + 0.6 * own.z * own.z) * sqrt(clamp((density - own.w) / THINS_OUT, 0.0, 1.0));
        if (radius < 0.03) continue;
        vec2 away = (at - square - 0.5 - OFF_CENTRE * (2.0 * own.xy - 1.0)) / radius;
        float far = length(away), sharp = min(radius * finest, SHARPEST);
        float inside = clamp((1.0 - far - lobed * lobes(away, far, own.xy - 0.5)) * sharp + 0.5, 0.0, 1.0);
        float along = clamp(dot(away, per_shadow), 0.0, 1.0);
        float shade = (1.0 - 0.35 * along - length(away - along * shadow)) * 0.67 * sharp + 0.5;
        near.shade = max(near.shade, min(shade, 1.0));
        near.tone = mix(near.tone, own.x + own.y - 1.0, inside);
        near.lean = mix(near.lean, away, inside);
        near.cover = max(near.cover, inside);
    }
    near.shade *= 1.0 - near.cover;
    return Bodies(mix(mean.cover, near.cover, seen), mix(mean.shade, near.shade, seen), seen * near.tone, 0.5, seen * near.lean);
}

const vec2 STANDING_FADE = vec2(0.13, 0.30);  // squares in a pixel: they are higher than what lies
const float LARGEST_STANDING = 0.30, STANDING_OFF_CENTRE = 0.14;  // radius and way, as above: it stays in its square
const float SMALLEST_STANDING = 0.35, MEAN_STANDING = 0.45;  // radius beside that; area in the mean beside the largest
const float STANDING_THINS_OUT = 0.4;  // as THINS_OUT: at the edges of a thicket they are smaller
const float MOST_COVERED = 0.8;    // of the ground
const float STANDS = 1.1, TREES_STAND = 2.1;  // height of a full body that stands upright, in radii
const float STANDING_REACH = 2.1;  // squares from where one is seen to its foot
const float STANDING_SHADOW = 2.4; // for each height
const float STEEPEST_SIDE = 0.95;  // slope of the sides of what stands
const float STANDING_LOBED = 0.9, SOFT_RIMS = 4.2;  // as `lobed` and SHARPEST: twigs end one by one
const float LONGEST_LOBE = 0.22;   // of the distance: lobes would have no end, and reach into other squares
const float AS_RAGGED = 0.5;       // for each height: less so where it is seen more aslant

// Where plants of a lattice stand together, and where none does: from 0 to 1, in patches some squares wide.
float clumped(vec2 at) {
    vec2 bent = at + 1.6 * sin(0.53 * at.yx + vec2(1.7, 0.4));
    float waves = sin(0.87 * bent.x + 0.33 * bent.y) * sin(0.76 * bent.y - 0.44 * bent.x) + 0.55 * sin(0.30 * bent.x - 1.39 * bent.y);
    return smoothstep(-0.15, 0.75, waves);
}

float standing_radius(vec4 own, float density) {
    float full = mix(SMALLEST_STANDING, 1.0, own.z * own.z);
    return LARGEST_STANDING * full * sqrt(clamp((density - own.w) / STANDING_THINS_OUT, 0.0, 1.0));
}

// The square that a line along `ahead` enters next, and how far along it that and the one after are.
vec2 next_square(vec2 square, vec2 ahead, vec2 per_square, inout vec2 border) {
    vec2 crosses = border.x <= border.y ? vec2(1.0, 0.0) : vec2(0.0, 1.0);
    border += crosses * per_square;
    return square + crosses * ahead;
}

vec2 borders_ahead(vec2 at, vec2 ahead, vec2 per_square) {
    return (max(ahead, 0.0) - (at - floor(at)) * ahead + (1.0 - abs(ahead))) * per_square;
}

// How far a line from the ground, that goes so far `toward` something for each height, passes from the middle of a dome: in
// radii of it, for a place so far `away` from its middle. `lower` is the inverse square of its height, `over` the height
// where it comes closest.
float passes_dome(vec2 away, vec2 toward, float lower, out vec2 beside, out float over) {
    over = max(-dot(away, toward) / (dot(toward, toward) + lower), 0.0);
    beside = away + over * toward;
    return sqrt(dot(beside, beside) + over * over * lower);
}

// Bodies that stand upright, as domes so `tall` in radii: they are looked for along the line of sight, from the ground that
// they hide, and along the light. `toward` and `sunward` are how far these go for each height over the ground, `ragged` a
// noise around 0, of outlines. `skin` is how far a place on one is from `at`, in squares, as if the dome was spread out.
Bodies standing_bodies_at(vec2 at, float density, float tall, float pixel, vec2 sunward, vec2 toward, float ragged, out vec2 skin) {
    skin = vec2(0.0);
    float steep = length(toward), most = STANDING_REACH / (tall * LARGEST_STANDING);
    toward *= min(1.0, most / max(steep, 1e-3));
    sunward *= min(1.0, STANDING_SHADOW / max(length(sunward), 1e-3));
    float across = dot(toward, toward), seen = 1.0 - smoothstep(STANDING_FADE.x, STANDING_FADE.y, pixel);
    float lower = 1.0 / (tall * tall);
    float squeezed = across + lower;
    float number = density < STANDING_THINS_OUT ? 0.5 * density * density / STANDING_THINS_OUT : density - 0.5 * STANDING_THINS_OUT;
    float mean = MEAN_STANDING * 3.1416 * LARGEST_STANDING * LARGEST_STANDING * max(number, 0.0);
    float mean_shade = min(mean * 0.35 * tall * length(sunward), min(0.6 * density, MOST_COVERED));
    mean = min(mean * (0.5 + 0.5 * sqrt(1.0 + across / lower)), min(0.7 * density, MOST_COVERED));
    Bodies near = NO_BODIES;
    float finest = 0.83 / max(pixel, 1e-4), far_enough = tall * LARGEST_STANDING, over;
    vec2 square = floor(at), ahead = sign(toward), per_square = 1.0 / max(abs(toward), 1e-4), border = borders_ahead(at, ahead, per_square), beside;
    vec2 direction = toward / max(sqrt(across), 1e-3);
    ragged /= max(AS_RAGGED * steep, 1.0);  // the noise is that of the ground, and drawn out
    bool any = density > 0.0 && seen > 0.0;
    int squares = any ? 4 : 0;
    for (int k = 0; k < squares; ++k) {
        vec4 own = hash4(square);
        float radius = standing_radius(own, density);
        if (radius > 0.03) {
            vec2 away = (at - square - 0.5 - STANDING_OFF_CENTRE * (2.0 * own.xy - 1.0)) / radius;
            float sharp = min(radius * finest, SOFT_RIMS);
            float far = passes_dome(away, toward, lower, beside, over), b = dot(away, toward);
            float lateral = dot(beside, vec2(-direction.y, direction.x)), rest = sqrt(max(far * far - lateral * lateral, 0.0));
            float lobed = lobes(vec2(lateral, dot(beside, direction) > 0.0 ? rest : -rest), far, own.xy - 0.5);
            lobed = max(STANDING_LOBED * lobed + ragged, -LONGEST_LOBE * far);
            float inside = clamp((1.0 - far - lobed) * sharp + 0.5, 0.0, 1.0);
            float high = (sqrt(max(b * b - squeezed * (dot(away, away) - 1.0), 0.0)) - b) / squeezed;
            vec3 up = vec3(away + high * toward, max(high, 0.0) * lower);
            near.tone = mix(near.tone, 0.8 * (own.x + own.y - 1.0) + 1.3 * (clamp(high / tall, 0.0, 1.0) - 0.5), inside);
            near.chance = inside > 0.5 ? fract(7.3 * own.x + 3.1 * own.w) : near.chance;
            near.lean = mix(near.lean, up.xy * min(1.0 / max(up.z, 0.05), STEEPEST_SIDE / max(length(up.xy), 1e-3)), inside);
            near.cover = max(near.cover, inside);
            if (inside > 0.5) skin = radius * max(high, 0.0) * (toward + direction);
        }
        if (min(border.x, border.y) > far_enough) break;
        square = next_square(square, ahead, per_square, border);
    }
    square = floor(at);
    ahead = sign(sunward);
    per_square = 1.0 / max(abs(sunward), 1e-4);
    border = borders_ahead(at, ahead, per_square);
    squares = any && near.cover < 1.0 ? 2 : 0;
    for (int k = 0; k < squares; ++k) {
        vec4 own = hash4(square);
        float radius = standing_radius(own, density);
        if (radius > 0.03) {
            vec2 away = (at - square - 0.5 - STANDING_OFF_CENTRE * (2.0 * own.xy - 1.0)) / radius;
            float far = passes_dome(away, sunward, lower, beside, over) + 0.7 * ragged;
            near.shade = max(near.shade, clamp((1.0 - far) * 0.8 * min(radius * finest, SHARPEST) + 0.5, 0.0, 1.0));
        }
        square = next_square(square, ahead, per_square, border);
    }
    near.shade *= 1.0 - near.cover;
    return Bodies(mix(mean, near.cover, seen), mix(mean_shade, near.shade, seen), seen * near.tone, mix(0.5, near.chance, seen), seen * near.lean);
}

// Cracks between the polygons of a lattice, as `at` and `pixel` are those of bodies.
float cracks_at(vec2 at, float pixel) {
    float seen = 1.0 - smoothstep(CRACKS_FADE.x, CRACKS_FADE.y, pixel);
    vec2 square = floor(at);
    float first = 9.0, second = 9.0;
    int squares = seen > 0.0 ? 9 : 0;
    for (int k = 0; k < squares; ++k) {
        vec2 lattice = square + vec2(k % 3, k / 3) - 1.0;
        float away = distance(at, lattice + 0.15 + 0.7 * hash4(lattice).xy);
        second = min(second, max(first, away));
        first = min(first, away);
    }
    float wide = max(CRACK_WIDE, pixel);
    return seen * (CRACK_WIDE / wide) * (1.0 - smoothstep(0.3 * wide, 1.3 * wide, second - first));
}
