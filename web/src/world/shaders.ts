// The three materials of the world: what is solid, what is a flat picture, and soft shadows. Colours are those of the screen: nothing
// is converted, so that a state has the same colour in the world and on the page.

import { AdditiveBlending, ShaderMaterial, Vector3, type Texture } from 'three'
import { PITCH, YAW } from './layout.ts'
import type { Look, Rgb } from './look.ts'

/** What all materials share of the time of day. */
export interface Light {
  above: { value: Vector3 }
  below: { value: Vector3 }
  sun: { value: Vector3 }
  lamp: { value: Vector3 }
  glow: { value: number }
  shadow: { value: number }
}

export function lightOf(): Light {
  const colour = () => ({ value: new Vector3() })
  return { above: colour(), below: colour(), sun: colour(), lamp: colour(), glow: { value: 0 }, shadow: { value: 0.2 } }
}

export function setLight(light: Light, look: Look): void {
  const set = (to: { value: Vector3 }, from: Rgb) => to.value.set(...from)
  set(light.above, look.above)
  set(light.below, look.below)
  set(light.sun, look.sun)
  set(light.lamp, look.lamp)
  light.glow.value = look.glow
  light.shadow.value = look.shadow
}

const EYE = `vec3(${[Math.cos(PITCH) * Math.sin(YAW), Math.sin(PITCH), Math.cos(PITCH) * Math.cos(YAW)].map(value => value.toFixed(4)).join()})`

const SOLID_VERTEX = /* glsl */ `
attribute vec3 tint;
attribute vec2 light;
#ifdef USE_INSTANCING
attribute vec2 extra;
#endif
varying vec3 vNormal;
varying vec3 vTint;
varying vec2 vLight;
varying float vRim;
void main() {
  vec4 at = vec4(position, 1.0);
  vec3 out_ = normal;
  vTint = tint;
  vLight = light;
  vRim = 0.0;
  #ifdef USE_INSTANCING
  at = instanceMatrix * at;
  out_ = mat3(instanceMatrix) * out_;
  vTint *= instanceColor;
  vLight = vec2(extra.y, extra.x);
  vRim = 1.0;
  #endif
  vNormal = normalize(out_);
  gl_Position = projectionMatrix * viewMatrix * at;
}`

const SOLID_FRAGMENT = /* glsl */ `
uniform vec3 above;
uniform vec3 below;
uniform vec3 sun;
uniform vec3 lamp;
uniform float glow;
varying vec3 vNormal;
varying vec3 vTint;
varying vec2 vLight;
varying float vRim;
void main() {
  vec3 n = normalize(vNormal);
  float lit = max(0.0, (dot(n, vec3(0.28, 0.74, 0.61)) + 0.3) / 1.3);
  vec3 seen = vTint * (mix(below, above, n.y * 0.5 + 0.5) + sun * lit + lamp * vLight.x);
  seen += above * vRim * 0.22 * pow(1.0 - max(0.0, dot(n, ${EYE})), 2.0);
  seen = mix(seen, vTint, clamp(vLight.y, 0.0, 1.0) * max(glow, step(1.5, vLight.y) * 0.92));
  gl_FragColor = vec4(seen, 1.0);
}`

const PICTURE_VERTEX = /* glsl */ `
attribute vec3 extra;
varying vec2 vAt;
varying vec4 vColour;
void main() {
  vAt = uv * ${(1 / 8).toFixed(4)} + extra.xy;
  vColour = vec4(instanceColor, extra.z);
  gl_Position = projectionMatrix * viewMatrix * instanceMatrix * vec4(position, 1.0);
}`

const PICTURE_FRAGMENT = /* glsl */ `
uniform sampler2D atlas;
varying vec2 vAt;
varying vec4 vColour;
void main() {
  vec4 seen = texture2D(atlas, vAt) * vColour;
  if (seen.a < 0.01) discard;
  gl_FragColor = seen;
}`

const SHADOW_VERTEX = /* glsl */ `
varying vec2 vAt;
varying vec3 vSize;
void main() {
  vSize = instanceColor;
  vAt = position.xz * 2.0 * instanceColor.xy;
  gl_Position = projectionMatrix * viewMatrix * instanceMatrix * vec4(position, 1.0);
}`

const SHADOW_FRAGMENT = /* glsl */ `
uniform float shadow;
varying vec2 vAt;
varying vec3 vSize;
void main() {
  float away = length(max(abs(vAt) - vSize.xy + vSize.z, 0.0)) / vSize.z;
  float fade = 1.0 - smoothstep(0.0, 1.0, away);
  gl_FragColor = vec4(0.08, 0.06, 0.1, shadow * fade);
}`

export function solid(light: Light): ShaderMaterial {
  return new ShaderMaterial({ uniforms: light as never, vertexShader: SOLID_VERTEX, fragmentShader: SOLID_FRAGMENT })
}

export function picture(atlas: Texture, isOver = false, adds = false): ShaderMaterial {
  const options = { uniforms: { atlas: { value: atlas } }, vertexShader: PICTURE_VERTEX, fragmentShader: PICTURE_FRAGMENT, transparent: true, depthWrite: false, depthTest: !isOver }
  return new ShaderMaterial(adds ? { ...options, blending: AdditiveBlending } : options)
}

export function shadows(light: Light): ShaderMaterial {
  return new ShaderMaterial({ uniforms: { shadow: light.shadow }, vertexShader: SHADOW_VERTEX, fragmentShader: SHADOW_FRAGMENT, transparent: true, depthWrite: false })
}
