// One connection to a screen as a channel for noVNC. The websocket below outlives it, and also carries other messages.
import type RFB from '@novnc/novnc'

type Channel = ConstructorParameters<typeof RFB>[1]

export class ScreenChannel implements Channel {
  binaryType = 'arraybuffer'
  readonly protocol = ''
  readyState = 'open'
  onopen: Channel['onopen'] = null
  onclose: Channel['onclose'] = null
  onerror: Channel['onerror'] = null
  onmessage: Channel['onmessage'] = null

  constructor(private readonly write: (data: Uint8Array<ArrayBuffer>) => void) {}

  hear(data: ArrayBuffer): void {
    if (this.readyState === 'open') this.onmessage?.({ data })
  }

  send(data: ArrayBuffer | ArrayBufferView<ArrayBuffer>): void {
    if (this.readyState !== 'open') return
    // noVNC reuses its buffer at once, so the data is copied.
    this.write(
      data instanceof ArrayBuffer
        ? new Uint8Array(data.slice(0))
        : new Uint8Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)),
    )
  }

  close(): void {
    if (this.readyState !== 'open') return
    this.readyState = 'closed'
    // As with a websocket, noVNC expects this event asynchronously.
    queueMicrotask(() => this.onclose?.(new CloseEvent('close', { code: 1000 })))
  }
}
