// The icons of the console. They are part of the code, so none has to be loaded.
const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z',
  topology: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 16.5h7M16.5 13v7',
  instances: 'M4 5h16v11H4zM9 20h6M12 16v4',
  nodes: 'M4 4h16v7H4zM4 13h16v7H4zM7.5 7.5h.01M7.5 16.5h.01',
  groups: 'M12 3l8 4.5-8 4.5-8-4.5zM4 12l8 4.5 8-4.5M4 16.5L12 21l8-4.5',
  networks: 'M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4',
  jobs: 'M4 6h10M4 12h10M4 18h10M18 5v14M15.5 16.5L18 19l2.5-2.5',
  locks: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  rules: 'M4 5h16l-6 8v6l-4-2v-4z',
  storage: 'M5 6c0-4 14-4 14 0v12c0 4-14 4-14 0zM5 6c0 4 14 4 14 0M5 12c0 4 14 4 14 0',
  os: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  exports: 'M4 15v5h16v-5M12 4v11M8 8l4-4 4 4',
  tags: 'M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01',
  maintenance: 'M14 6a4 4 0 0 1 5-2l-3 3 1 1 3-3a4 4 0 0 1-5 5l-8 9-3-3 9-8a4 4 0 0 1 1-2z',
  access: 'M8 12a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 13l8-8M16 8l3 3M14 10l2 2',
  cluster:
    'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M18.4 5.6l-2.2 2.2M7.8 16.2l-2.2 2.2',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5',
  colors: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  account: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0',
  close: 'M6 6l12 12M18 6L6 18',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  up: 'M6 15l6-6 6 6',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  keys: 'M3 6h18v12H3zM7 10h.01M12 10h.01M17 10h.01M8 14h8',
  paste: 'M8 5H6v15h12V5h-2M9 3h6v4H9z',
  picture: 'M4 7h4l2-3h4l2 3h4v13H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z',
  whole: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  terminal: 'M4 5h16v14H4zM7.5 9.5L10 12l-2.5 2.5M12.5 15H16',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
