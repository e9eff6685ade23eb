/** Whether a socket's server has an accepted client; one that waits to be accepted has another state. */
export const hasClient = (sockets: string, path: string): boolean =>
  sockets.split('\n').some((line) => {
    const [, , , , , state, , where] = line.trim().split(/\s+/)
    return state === '03' && where === path
  })
