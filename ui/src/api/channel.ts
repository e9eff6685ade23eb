// Messages between the pages of one browser. A page does not receive its own messages.
export function openChannel(name: string, hear: (message: unknown) => void): BroadcastChannel {
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<unknown>) => hear(data)
  return channel
}
