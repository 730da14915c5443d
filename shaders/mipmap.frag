// A level of mipmaps from the one above, `above`, which alone is read: bilinear, as sides may be odd.
uniform sampler2D above;
uniform vec2 size;  // of this level
uniform float steps;  // of a component from 0 to 1, 0 for floats: what lies between two is rounded, halves up

out vec4 result;

vec4 kept(vec4 mean) {
    return steps > 0.0 ? floor(mean * steps + 0.501) / steps : mean;
}

void main() {
    ivec2 last = textureSize(above, 0) - 1;
    vec2 place = max(gl_FragCoord.xy / size * vec2(last + 1) - 0.5, 0.0);
    ivec2 at = min(ivec2(place), last), beyond = min(at + 1, last);
    vec2 part = place - vec2(at);
    vec4 top = mix(texelFetch(above, at, 0), texelFetch(above, ivec2(beyond.x, at.y), 0), part.x);
    vec4 bottom = mix(texelFetch(above, ivec2(at.x, beyond.y), 0), texelFetch(above, beyond, 0), part.x);
    result = kept(mix(kept(top), kept(bottom), part.y));
}
