// Draws the picture of ARCHITECTURE.md: which processes there are, where they run, and who speaks to whom. `npm run generate` writes it.

/** Left, top, width and height. */
type Box = readonly [x: number, y: number, width: number, height: number]
type Point = readonly [x: number, y: number]

const SIZE: Point = [880, 480]

const PLACES: readonly (readonly [name: string, box: Box, middleOfName: Point])[] = [
  ['master', [20, 90, 500, 370], [100, 450]],
  ['every node', [610, 90, 250, 370], [735, 455]],
  ['master candidates', [630, 290, 210, 150], [770, 308]],
]

/** People and programs outside of the cluster. */
const CLIENTS: readonly (readonly [name: string, box: Box])[] = [
  ['browser, RAPI clients', [30, 20, 180, 30]],
  ['gnt, htools', [230, 20, 110, 30]],
  ['monitoring', [640, 20, 90, 30]],
  ['guests', [750, 20, 90, 30]],
]

const PROCESSES: readonly (readonly [name: string, box: Box])[] = [
  ['rapi', [40, 140, 90, 44]],
  ['luxid', [230, 140, 100, 44]],
  ['job process ×N', [370, 230, 130, 44]],
  ['maintd', [40, 260, 90, 44]],
  ['wconfd', [230, 390, 100, 44]],
  ['mond', [640, 140, 90, 44]],
  ['metad', [750, 140, 90, 44]],
  ['noded', [640, 230, 90, 44]],
  ['kvmd', [750, 230, 90, 44]],
  ['copies', [650, 390, 80, 34]],
  ['confd', [745, 390, 80, 34]],
]

/** Each with the points of its line, and the middle of its text. */
const LINES: readonly (readonly [points: string, text: string, at: Point])[] = [
  ['85,50 85,140', 'HTTPS 5080', [128, 78]],
  ['280,50 280,140', 'LUXI', [302, 78]],
  ['685,50 685,140', 'HTTP 1815', [722, 78]],
  ['795,50 795,140', 'HTTP 80', [826, 78]],
  ['130,162 230,162', 'LUXI', [180, 154]],
  ['85,260 85,222 250,222 250,184', 'LUXI', [160, 214]],
  ['330,162 435,162 435,230', 'starts, follows', [388, 154]],
  ['280,184 280,390', 'snapshots', [246, 330]],
  ['435,274 435,412 330,412', 'locks, changes', [388, 404]],
  ['500,252 640,252', 'HTTPS 1811', [565, 244]],
  ['685,274 685,390', 'writes', [712, 335]],
  ['330,428 590,428 590,264 640,264', 'journal', [560, 420]],
  ['745,407 730,407', 'follows', [775, 380]],
]

const STYLE = `text{font:13px sans-serif;fill:#1b2733;text-anchor:middle}.small{font-size:11px;fill:#52606d}.place{fill:#f4f7fa;stroke:#9fb3c8;stroke-dasharray:5 4}.process{fill:#d9eaf7;stroke:#2f6690}.client{fill:#fff;stroke:#9fb3c8}.line{fill:none;stroke:#334e68;stroke-width:1.3;marker-end:url(#end)}`

export function processesDrawing(): string {
  const [width, height] = SIZE
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    '<!-- Made by scripts/processes-drawing.ts; npm run generate writes it. -->',
    `<style>${STYLE}</style>`,
    '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#334e68"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...PLACES.flatMap(([name, box, at]) => [rectangle('place', box), label(name, at)]),
    ...CLIENTS.flatMap(([name, box]) => [rectangle('client', box), label(name, middleOf(box))]),
    ...PROCESSES.flatMap(([name, box]) => [rectangle('process', box), label(name, middleOf(box))]),
    ...LINES.flatMap(([points, text, at]) => [`<polyline class="line" points="${points}"/>`, label(text, at, 'small')]),
    '</svg>',
  ]
  return parts.join('\n') + '\n'
}

const rectangle = (kind: string, [x, y, width, height]: Box): string =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="5"/>`

const label = (text: string, [x, y]: Point, kind = ''): string =>
  `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${text}</text>`

/** Where the text of a box begins to stand in its middle: the baseline is a little below. */
const middleOf = ([x, y, width, height]: Box): Point => [x + width / 2, y + height / 2 + 5]
