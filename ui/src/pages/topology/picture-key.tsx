// The legend of the picture.
import { texts } from '../../texts'

const own = texts.topology

export function PictureKey({ mode }: { mode: 'look' | 'what-if' | 'balance' }) {
  return (
    <div className="picture-key" role="group" aria-label={own.key.label}>
      <Sign className="key-memory" text={own.key.memory} />
      <Sign className="dot dot-good" text={own.key.running} />
      <Sign className="dot dot-off" text={own.key.stopped} />
      <Sign className="dot dot-bad" text={own.key.wrong} />
      <Sign className="key-tile tile-dead" text={own.key.offline} />
      <Sign className="key-tile tile-drained" text={own.key.drained} />
      {mode === 'what-if' && <Sign className="key-tile tile-no-reserve" text={own.key.noReserve} />}
      <Sign className="key-arrow" text={mode === 'look' ? own.key.mirror : own.key.moves} />
      <span>{mode === 'what-if' ? own.keysDie : own.keys}</span>
    </div>
  )
}

const Sign = ({ className, text }: { className: string; text: string }) => (
  <span className="key-sign">
    <span className={className} aria-hidden="true" />
    {text}
  </span>
)
