// Types for the part of noVNC that the console uses (see docs/API.md of its package).
declare module '@novnc/novnc' {
  /** The channel that noVNC needs: a websocket, or an object with the same interface. */
  interface Channel {
    binaryType: string
    readonly protocol: string
    readonly readyState: string
    onopen: (() => void) | null
    onclose: ((event: CloseEvent) => void) | null
    onerror: ((event: Event) => void) | null
    onmessage: ((event: { data: ArrayBuffer }) => void) | null
    send(data: ArrayBuffer | ArrayBufferView): void
    close(): void
  }

  class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: Channel, options?: { shared?: boolean })
    viewOnly: boolean
    scaleViewport: boolean
    background: string
    focus(options?: FocusOptions): void
    sendKey(keysym: number, code: string | null, down?: boolean): void
    disconnect(): void
    toBlob(callback: (picture: Blob | null) => void, type?: string): void
  }
  export = RFB
}
