// Faces, signs and pins on one picture, drawn once: every flat thing in the world is a piece of it.

import { SIGNS, type SignName } from '../ui/states.ts'
import { STATE_COLOURS } from './look.ts'

const SIDE = 8
const TILE = 128

export type Face = 'open' | 'down' | 'up' | 'wide' | 'cross' | 'happy' | 'shut'
const FACES: Face[] = ['open', 'down', 'up', 'wide', 'cross', 'happy', 'shut']
const NAMES = Object.keys(SIGNS) as SignName[]
const MOST_NUMBER = 24
const MOST_MORE = 9

const FIRST_SIGN = FACES.length
const FIRST_PIN = FIRST_SIGN + NAMES.length
const PINS = ['needs', 'failed', 'turn'] as const
const RING = FIRST_PIN + PINS.length
const DISC = RING + 1
const GLOW = RING + 2
const FIRST_NUMBER = RING + 3
const FIRST_MORE = FIRST_NUMBER + MOST_NUMBER

/** Which piece is what. */
export const tileOf = {
  face: (face: Face) => FACES.indexOf(face),
  sign: (name: SignName) => FIRST_SIGN + NAMES.indexOf(name),
  /** The pin of a kind; one that needs the person has its number, if that is known. */
  pin: (kind: (typeof PINS)[number], number = 0) => (kind === 'needs' && number > 0 && number <= MOST_NUMBER ? FIRST_NUMBER + number - 1 : FIRST_PIN + PINS.indexOf(kind)),
  more: (count: number) => FIRST_MORE + Math.min(MOST_MORE, count) - 1,
  ring: RING,
  disc: DISC,
  glow: GLOW,
}

/** Where a piece is on the picture: its left and its bottom. */
export function placeOf(tile: number): [number, number] {
  return [(tile % SIDE) / SIDE, 1 - (Math.floor(tile / SIDE) + 1) / SIDE]
}

export function drawAtlas(): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = SIDE * TILE
  const pen = canvas.getContext('2d')!
  const on = (tile: number, draw: (pen: CanvasRenderingContext2D) => void) => {
    pen.save()
    pen.translate((tile % SIDE) * TILE + TILE / 2, Math.floor(tile / SIDE) * TILE + TILE / 2)
    pen.lineCap = pen.lineJoin = 'round'
    pen.fillStyle = pen.strokeStyle = '#fff'
    draw(pen)
    pen.restore()
  }
  for (const face of FACES) on(tileOf.face(face), pen => drawFace(pen, face))
  for (const name of NAMES) on(tileOf.sign(name), pen => drawSign(pen, name, 6.6))
  for (const kind of PINS) on(tileOf.pin(kind), pen => drawPin(pen, kind, kind === 'needs' ? 'bang' : kind === 'failed' ? 'cross' : 'check'))
  for (let number = 1; number <= MOST_NUMBER; number++) on(tileOf.pin('needs', number), pen => drawPin(pen, 'needs', String(number)))
  for (let count = 1; count <= MOST_MORE; count++) on(tileOf.more(count), pen => write(pen, `+${count}`, 60))
  on(RING, pen => {
    pen.lineWidth = 9
    pen.beginPath()
    pen.arc(0, 0, 50, 0, 7)
    pen.stroke()
  })
  on(DISC, pen => {
    pen.beginPath()
    pen.arc(0, 0, 58, 0, 7)
    pen.fill()
  })
  on(GLOW, pen => {
    const fade = pen.createRadialGradient(0, 0, 0, 0, 0, 60)
    for (const [at, strength] of [[0, 1], [0.3, 0.62], [0.65, 0.2], [1, 0]] as const) fade.addColorStop(at, `rgb(255 255 255 / ${strength})`)
    pen.fillStyle = fade
    pen.fillRect(-62, -62, 124, 124)
  })
  return canvas
}

function drawFace(pen: CanvasRenderingContext2D, face: Face): void {
  pen.lineWidth = 9
  for (const side of [-1, 1]) {
    const x = side * 25
    pen.beginPath()
    if (face === 'open' || face === 'down' || face === 'up') pen.roundRect(x - 10, (face === 'down' ? 10 : face === 'up' ? -14 : -3) - 15, 20, 31, 10)
    else if (face === 'wide') pen.ellipse(x, -9, 17, 14, 0, 0, 7)
    else if (face === 'cross') {
      pen.moveTo(x - 11, -14)
      pen.lineTo(x + 11, 8)
      pen.moveTo(x + 11, -14)
      pen.lineTo(x - 11, 8)
    } else if (face === 'happy') pen.arc(x, 6, 14, Math.PI * 1.12, Math.PI * 1.88)
    else {
      pen.moveTo(x - 12, 0)
      pen.lineTo(x + 12, 0)
    }
    if (face === 'cross' || face === 'happy' || face === 'shut') pen.stroke()
    else pen.fill()
    if (face === 'wide') {
      pen.globalCompositeOperation = 'destination-out'
      pen.beginPath()
      pen.arc(x, -9, 6, 0, 7)
      pen.fill()
      pen.globalCompositeOperation = 'source-over'
    }
  }
  if (face === 'wide') {
    pen.beginPath()
    pen.ellipse(0, 24, 7, 8, 0, 0, 7)
    pen.fill()
  }
}

function drawSign(pen: CanvasRenderingContext2D, name: SignName, scale: number): void {
  pen.save()
  pen.scale(scale, scale)
  pen.translate(-8, -8)
  pen.lineWidth = name === 'dots' ? 2.6 : 1.7
  pen.stroke(new Path2D(SIGNS[name]))
  pen.restore()
}

/** A pin stands on its lowest point. */
function drawPin(pen: CanvasRenderingContext2D, kind: (typeof PINS)[number], sign: string): void {
  const { fill, sign: ink } = STATE_COLOURS[kind]
  const outline = () => {
    pen.beginPath()
    if (kind === 'failed') pen.roundRect(-40, -52, 80, 80, 20)
    else if (kind === 'turn') pen.roundRect(-50, -48, 100, 74, 34)
    else pen.arc(0, -12, 43, 0, 7)
    const foot = kind === 'needs' ? 27 : 24
    pen.moveTo(-15, foot)
    pen.lineTo(0, 53)
    pen.lineTo(15, foot)
    pen.closePath()
  }
  pen.shadowColor = 'rgb(0 0 0 / 30%)'
  pen.shadowBlur = 6
  pen.fillStyle = pen.strokeStyle = kind === 'turn' ? fill : '#fff'
  pen.lineWidth = 12
  outline()
  pen.stroke()
  pen.shadowBlur = 0
  pen.fillStyle = fill
  outline()
  pen.fill()
  pen.strokeStyle = pen.fillStyle = ink
  pen.translate(0, kind === 'needs' ? -12 : kind === 'failed' ? -12 : -11)
  if (sign in SIGNS) drawSign(pen, sign as SignName, sign === 'bang' ? 4.9 : 4.5)
  else write(pen, sign, sign.length > 1 ? 50 : 60)
}

function write(pen: CanvasRenderingContext2D, text: string, size: number): void {
  pen.font = `700 ${size}px system-ui, sans-serif`
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  pen.fillText(text, 0, size * 0.05)
}
