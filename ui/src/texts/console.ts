// The consoles of instances.

export const consoleTexts = {
  open: 'Console',
  title: (name: string) => `Console of ${name}`,
  toInstance: 'To the instance',
  kinds: { serial: 'Serial', vnc: 'Screen (VNC)' },
  serialOf: (name: string) => `Serial console of ${name}`,
  screenOf: (name: string) => `Screen of ${name}`,
  readOnly: 'View only',
  newWindow: 'New window',
  keys: 'Keys',
  paste: 'Paste',
  pasteLabel: 'Text',
  pasteSerial: 'The text is sent as it is. A shell executes each line.',
  pasteScreen: 'The text is typed key by key, as on a US keyboard.',
  pasteSubmit: 'Type it',
  characters: (count: number) => `${count} ${count === 1 ? 'character' : 'characters'}`,
  saveText: 'Save the text',
  savePicture: 'Save a picture',
  fullScreen: 'Full screen',
  spice: 'Open in a SPICE viewer',
  none: 'No console',
  noneText:
    'This instance has no console. Set its hypervisor parameter serial_console, vnc_bind_address or spice_bind, and restart it.',
  onlySpice:
    'This instance has a SPICE screen, which browsers cannot show. Save the file, and open it with remote-viewer.',
  lost: 'The connection to the server is lost.',
  again: 'Try again',
  phases: {
    opening: () => 'Connecting …',
    connected: (node: string) => `Connected, on ${node}`,
    waiting: () => 'Waiting',
    lost: () => 'Connection lost',
    over: () => 'Not connected',
  },
  hints: {
    connected: '',
    opening: '',
    waiting: 'The console reconnects automatically when the instance is available.',
    lost: 'The console keeps trying to reconnect.',
    over: '',
  },
} as const
