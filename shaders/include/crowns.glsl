// What is known of crowns of trees in all shaders.

const float SIDE_OF_CROWNS = 1.25;  // the area that is seen of them from the side, beside that seen from above
