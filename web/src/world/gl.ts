// WebGL, as much of it as a dozen shapes need that are drawn many times each: a library for scenes would be ten times what it draws.

import type { Look } from './look.ts'
import { SHADERS } from './shaders.ts'

/** How many numbers a point of a shape has, and each of many: three axes, a place, a colour, and three of its own. */
const POINT = 11
export const NUMBERS = 18

/** How a mesh is painted: what is seen through is painted after what is solid, and pins over everything. */
export type Paint = 'solid' | 'shadow' | 'picture' | 'glow' | 'pin'

const PROGRAM_OF = { solid: 'solid', shadow: 'shadow', picture: 'picture', glow: 'picture', pin: 'picture' } as const
const ORDER: Paint[] = ['solid', 'shadow', 'picture', 'glow', 'pin']
const POINT_PARTS = [3, 3, 3, 2]
const INSTANCE_PARTS = 6

export interface Mesh {
  paint: Paint
  points: Float32Array
  /** The numbers of each of many, and how many there are; one that stands alone has none. */
  instances: Float32Array | undefined
  count: number
  /** How many there may be. */
  most: number
  array: WebGLVertexArrayObject | null
  pointBuffer: WebGLBuffer | null
  instanceBuffer: WebGLBuffer | null
}

interface Program {
  program: WebGLProgram
  places: Map<string, WebGLUniformLocation>
}

export class Renderer {
  readonly gl: WebGL2RenderingContext
  readonly info = { calls: 0, triangles: 0, frame: 0 }
  light: Look | undefined
  private readonly meshes: Mesh[] = []
  private readonly atlas: HTMLCanvasElement
  private programs = {} as Record<keyof typeof SHADERS, Program>

  constructor(canvas: HTMLCanvasElement, isSmooth: boolean, atlas: HTMLCanvasElement) {
    const gl = canvas.getContext('webgl2', { antialias: isSmooth, alpha: true, powerPreference: 'low-power' })
    if (!gl) throw new Error('no WebGL')
    this.gl = gl
    this.atlas = atlas
    this.prepare()
  }

  /** A shape, which is drawn once, or up to so many times. */
  add(paint: Paint, points: Float32Array, most = 0): Mesh {
    const mesh: Mesh = { paint, points, instances: undefined, count: 0, most, array: null, pointBuffer: null, instanceBuffer: null }
    this.meshes.push(mesh)
    this.meshes.sort((one, other) => ORDER.indexOf(one.paint) - ORDER.indexOf(other.paint))
    this.upload(mesh)
    return mesh
  }

  /** Gives one that stands alone another shape. */
  replace(mesh: Mesh, points: Float32Array): void {
    mesh.points = points
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, mesh.pointBuffer)
    this.gl.bufferData(this.gl.ARRAY_BUFFER, points, this.gl.STATIC_DRAW)
  }

  resize(width: number, height: number): void {
    const { canvas } = this.gl
    canvas.width = Math.max(1, Math.round(width))
    canvas.height = Math.max(1, Math.round(height))
  }

  render(matrix: Float32Array): void {
    const { gl, info } = this
    info.calls = info.triangles = 0
    info.frame++
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight)
    gl.depthMask(true)
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT)
    let before: Paint | undefined
    for (const mesh of this.meshes) {
      if (mesh.most ? !mesh.count : !mesh.points.length) continue
      if (mesh.paint !== before) this.begin((before = mesh.paint), matrix)
      this.draw(mesh)
    }
  }

  /** Makes everything anew in a context that has lost it. */
  restore(): void {
    this.prepare()
    for (const mesh of this.meshes) this.upload(mesh)
  }

  dispose(): void {
    this.gl.getExtension('WEBGL_lose_context')?.loseContext()
  }

  private prepare(): void {
    const { gl } = this
    this.programs = Object.fromEntries(Object.entries(SHADERS).map(([name, { vertex, fragment }]) => [name, link(gl, vertex, fragment)])) as Renderer['programs']
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture())
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true)
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true)
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, this.atlas)
    gl.generateMipmap(gl.TEXTURE_2D)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR)
    gl.enable(gl.CULL_FACE)
    gl.clearColor(0, 0, 0, 0)
    // One that stands alone is where its points say, in their own colours.
    for (const [at, values] of [[4, [1, 0, 0]], [5, [0, 1, 0]], [6, [0, 0, 1]], [7, [0, 0, 0]], [8, [1, 1, 1]], [9, [0, 0, 0]]] as const) gl.vertexAttrib3fv(at, values)
  }

  private upload(mesh: Mesh): void {
    const { gl } = this
    mesh.array = gl.createVertexArray()
    gl.bindVertexArray(mesh.array)
    mesh.pointBuffer = gl.createBuffer()
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.pointBuffer)
    gl.bufferData(gl.ARRAY_BUFFER, mesh.points, gl.STATIC_DRAW)
    let offset = 0
    POINT_PARTS.forEach((size, at) => {
      gl.enableVertexAttribArray(at)
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 4 * POINT, 4 * offset)
      offset += size
    })
    if (mesh.most) {
      mesh.instanceBuffer = gl.createBuffer()
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh.instanceBuffer)
      gl.bufferData(gl.ARRAY_BUFFER, 4 * NUMBERS * mesh.most, gl.DYNAMIC_DRAW)
      for (let part = 0; part < INSTANCE_PARTS; part++) {
        const at = POINT_PARTS.length + part
        gl.enableVertexAttribArray(at)
        gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 4 * NUMBERS, 12 * part)
        gl.vertexAttribDivisor(at, 1)
      }
    }
    gl.bindVertexArray(null)
  }

  private begin(paint: Paint, matrix: Float32Array): void {
    const { gl, light } = this
    const isSolid = paint === 'solid'
    gl.depthMask(isSolid)
    if (paint === 'pin') gl.disable(gl.DEPTH_TEST)
    else gl.enable(gl.DEPTH_TEST)
    if (isSolid) gl.disable(gl.BLEND)
    else gl.enable(gl.BLEND)
    gl.blendFunc(gl.ONE, paint === 'glow' ? gl.ONE : gl.ONE_MINUS_SRC_ALPHA)
    const { program, places } = this.programs[PROGRAM_OF[paint]]
    gl.useProgram(program)
    gl.uniformMatrix4fv(places.get('matrix')!, false, matrix)
    if (!light) return
    for (const name of ['above', 'below', 'sun', 'lamp'] as const) if (places.has(name)) gl.uniform3fv(places.get(name)!, light[name])
    for (const name of ['glow', 'shadow'] as const) if (places.has(name)) gl.uniform1f(places.get(name)!, light[name])
  }

  private draw(mesh: Mesh): void {
    const { gl, info } = this
    const points = mesh.points.length / POINT
    gl.bindVertexArray(mesh.array)
    if (mesh.paint === 'solid') gl.uniform1f(this.programs.solid.places.get('many')!, mesh.most ? 1 : 0)
    if (mesh.most && mesh.instances) {
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh.instanceBuffer)
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, mesh.instances, 0, mesh.count * NUMBERS)
      gl.drawArraysInstanced(gl.TRIANGLES, 0, points, mesh.count)
    } else gl.drawArrays(gl.TRIANGLES, 0, points)
    info.calls++
    info.triangles += (points / 3) * (mesh.most ? mesh.count : 1)
  }
}

function link(gl: WebGL2RenderingContext, vertex: string, fragment: string): Program {
  const program = gl.createProgram()
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind)!
    gl.shaderSource(shader, source)
    gl.compileShader(shader)
    gl.attachShader(program, shader)
  }
  gl.linkProgram(program)
  // A context that is lost links nothing, and is not asked why.
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(program) ?? 'a shader does not link')
  const places = new Map<string, WebGLUniformLocation>()
  const count: number = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0
  for (let at = 0; at < count; at++) {
    const { name } = gl.getActiveUniform(program, at)!
    places.set(name, gl.getUniformLocation(program, name)!)
  }
  return { program, places }
}
