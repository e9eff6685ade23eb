/** Whether the server of a socket talks to somebody: one that it has not accepted yet has another state. */
export const hasClient = (sockets: string, path: string): boolean =>
  sockets.split('\n').some((line) => {
    const [, , , , , state, , where] = line.trim().split(/\s+/)
    return state === '03' && where === path
  })
