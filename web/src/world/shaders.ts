// The three materials of the world: what is solid, what is a flat picture, and soft shadows. Colours are those of the screen: nothing
// is converted, so that a state has the same colour in the world and on the page.

import { PITCH, YAW } from './layout.ts'

const HEAD = `#version 300 es
precision highp float;
`
const ATTRIBUTES = `
layout(location=0) in vec3 position;
layout(location=1) in vec3 normal;
layout(location=2) in vec3 tint;
layout(location=3) in vec2 light;
layout(location=4) in vec3 axisX;
layout(location=5) in vec3 axisY;
layout(location=6) in vec3 axisZ;
layout(location=7) in vec3 place;
layout(location=8) in vec3 colour;
layout(location=9) in vec3 extra;
uniform mat4 matrix;
vec4 placed() { return matrix * vec4(axisX * position.x + axisY * position.y + axisZ * position.z + place, 1.0); }
`
const EYE = `vec3(${[Math.cos(PITCH) * Math.sin(YAW), Math.sin(PITCH), Math.cos(PITCH) * Math.cos(YAW)].map(value => value.toFixed(4)).join()})`

/** Of what is one of many `extra` says how far it shines and how much of the lamps it has; of what stands still its points do. */
const SOLID = {
  vertex: `${HEAD}${ATTRIBUTES}
uniform float many;
out vec3 vNormal;
out vec3 vTint;
out vec2 vLight;
void main() {
  vNormal = axisX * normal.x + axisY * normal.y + axisZ * normal.z;
  vTint = tint * colour;
  vLight = mix(light, extra.yx, many);
  gl_Position = placed();
}`,
  fragment: `${HEAD}
uniform vec3 above;
uniform vec3 below;
uniform vec3 sun;
uniform vec3 lamp;
uniform float glow;
uniform float many;
in vec3 vNormal;
in vec3 vTint;
in vec2 vLight;
out vec4 seen;
void main() {
  vec3 n = normalize(vNormal);
  float lit = max(0.0, (dot(n, vec3(0.28, 0.74, 0.61)) + 0.3) / 1.3);
  vec3 c = vTint * (mix(below, above, n.y * 0.5 + 0.5) + sun * lit + lamp * vLight.x);
  c += above * many * 0.22 * pow(1.0 - max(0.0, dot(n, ${EYE})), 2.0);
  seen = vec4(mix(c, vTint, clamp(vLight.y, 0.0, 1.0) * max(glow, step(1.5, vLight.y) * 0.92)), 1.0);
}`,
}

/** `extra` is the left and the bottom of the piece of the atlas, and how much of it is seen. */
const PICTURE = {
  vertex: `${HEAD}${ATTRIBUTES}
out vec2 vAt;
out vec4 vColour;
void main() {
  vAt = light * 0.125 + extra.xy;
  vColour = vec4(colour * extra.z, extra.z);
  gl_Position = placed();
}`,
  fragment: `${HEAD}
uniform sampler2D atlas;
in vec2 vAt;
in vec4 vColour;
out vec4 seen;
void main() {
  seen = texture(atlas, vAt) * vColour;
}`,
}

/** `colour` is half the width and the depth, and how soft its edge is. */
const SHADOW = {
  vertex: `${HEAD}${ATTRIBUTES}
out vec2 vAt;
out vec3 vSize;
void main() {
  vSize = colour;
  vAt = (light * 2.0 - 1.0) * colour.xy;
  gl_Position = placed();
}`,
  fragment: `${HEAD}
uniform float shadow;
in vec2 vAt;
in vec3 vSize;
out vec4 seen;
void main() {
  float away = length(max(abs(vAt) - vSize.xy + vSize.z, 0.0)) / vSize.z;
  float a = shadow * (1.0 - smoothstep(0.0, 1.0, away));
  seen = vec4(vec3(0.08, 0.06, 0.1) * a, a);
}`,
}

export const SHADERS = { solid: SOLID, picture: PICTURE, shadow: SHADOW }
