// Which questions came lately, and from whom. Somebody who has overheard a question may send it again while its time is good; the answer
// goes only to the one who asked first, who may repeat it when an answer was lost. The memory is fixed: a later question takes the place
// of an earlier one, now and then.
import { crc32 } from 'node:zlib'
import { CONFD_QUESTIONS_REMEMBERED } from '../../model/limits/confd'

export class Replays {
  private readonly questions = new Uint32Array(CONFD_QUESTIONS_REMEMBERED)
  private readonly askers = new Uint32Array(CONFD_QUESTIONS_REMEMBERED)

  /** `hmac` is of an authentic question. Whether another one has asked it before. */
  isReplay(hmac: string, asker: string): boolean {
    // Signatures are as good as random, so their parts tell questions apart.
    const slot = Number.parseInt(hmac.slice(0, 8), 16) % CONFD_QUESTIONS_REMEMBERED
    const question = Number.parseInt(hmac.slice(8, 16), 16)
    const from = crc32(asker)
    if (this.questions[slot] === question && this.askers[slot] !== from) return true
    this.questions[slot] = question
    this.askers[slot] = from
    return false
  }
}
