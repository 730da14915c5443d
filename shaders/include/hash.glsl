// Four numbers in [0, 1) that look random, for each square of a lattice.
vec4 hash4(vec2 p) {
    vec4 q = fract(p.xyxy * vec4(0.1031, 0.1030, 0.0973, 0.1099));
    q += dot(q, q.wzxy + 33.33);
    return fract((q.xxyz + q.yzzw) * q.zywx);
}
