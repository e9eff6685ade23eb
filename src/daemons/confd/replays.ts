// Recent questions and their senders. Somebody who has overheard a question might send it again while its time is
// valid. Only the first sender gets an answer, and may repeat the question if an answer got lost. The memory is fixed:
// now and then a later question replaces an earlier one.
import { crc32 } from 'node:zlib'
import { CONFD_QUESTIONS_REMEMBERED } from '../../model/limits/confd'

export class Replays {
  private readonly questions = new Uint32Array(CONFD_QUESTIONS_REMEMBERED)
  private readonly askers = new Uint32Array(CONFD_QUESTIONS_REMEMBERED)

  /** `hmac` belongs to an authentic question. Returns whether another sender has used it before. */
  isReplay(hmac: string, asker: string): boolean {
    // Signatures are practically random, so a part of them distinguishes questions.
    const slot = Number.parseInt(hmac.slice(0, 8), 16) % CONFD_QUESTIONS_REMEMBERED
    const question = Number.parseInt(hmac.slice(8, 16), 16)
    const from = crc32(asker)
    if (this.questions[slot] === question && this.askers[slot] !== from) return true
    this.questions[slot] = question
    this.askers[slot] = from
    return false
  }
}
