// Whether the browser is too slow for the world in three dimensions: a few frames are measured to their end, once with everything and
// once with little.

interface Answers {
  /** Everything is too much. */
  plain: () => void
  /** Little is too much as well. */
  givesUp: () => void
}

/** The frames that are measured after the first ones, in which shaders are compiled. */
const SKIPPED = 2
const MEASURED = 2
/** More than this is too slow, in milliseconds: with everything, and with little. */
const LIMITS = { full: 120, plain: 150 }

export class SlowFrames {
  private times: number[] = []
  private seen = 0
  private isPlain: boolean
  private isDone = false
  private readonly answers: Answers

  /** One that is off measures nothing. */
  constructor(isPlain: boolean, isOff: boolean, answers: Answers) {
    this.isDone = isOff
    this.isPlain = isPlain
    this.answers = answers
  }

  get isMeasuring(): boolean {
    return !this.isDone && this.seen > 0
  }

  /** A frame was drawn that began then. */
  note(context: WebGL2RenderingContext, began: number): void {
    if (this.isDone) return
    // What is drawn comes after this; a pixel that is read has to wait for it.
    context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, new Uint8Array(4))
    if (this.seen++ < SKIPPED) return
    this.times.push(performance.now() - began)
    if (this.times.length < MEASURED) return
    const best = Math.min(...this.times)
    this.times = []
    this.seen = 1
    if (best <= (this.isPlain ? LIMITS.plain : LIMITS.full)) this.isDone = true
    else if (this.isPlain) {
      this.isDone = true
      this.answers.givesUp()
    } else {
      this.isPlain = true
      this.answers.plain()
    }
  }
}
