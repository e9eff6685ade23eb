// Colours a graph so that neighbours differ, with few colours. Each of the usual greedy orders is best on some graphs.

/** Neighbours of each vertex. A neighbour may occur several times, which increases its weight. */
export type Graph = readonly (readonly number[])[]

export interface Coloring {
  readonly name: string
  /** The vertices of each colour, ascending. */
  readonly classes: readonly (readonly number[])[]
}

/** By Ganeti's names of the orders. */
export const colorings = (graph: Graph): [Coloring, Coloring, Coloring] => [
  { name: 'LF', classes: classes(largestFirst(graph)) },
  { name: 'Dsatur', classes: classes(dynamic(graph, (colors) => new Set(colors).size)) },
  { name: 'Dcolor', classes: classes(dynamic(graph, (colors) => colors.length)) },
]

type Colors = (number | undefined)[]

/** By number of neighbours; among equals, the last vertex comes first. */
function largestFirst(graph: Graph): Colors {
  const colors: Colors = graph.map(() => undefined)
  const degree = (vertex: number) => graph[vertex]?.length ?? 0
  const order = graph.map((_, vertex) => vertex).sort((a, b) => degree(b) - degree(a) || b - a)
  for (const vertex of order) colors[vertex] = freeColor(graph, colors, vertex)
  return colors
}

/** Next is the vertex with the heaviest coloured neighbours, then the one with the most neighbours, then the last. */
function dynamic(graph: Graph, weigh: (colors: readonly number[]) => number): Colors {
  const colors: Colors = graph.map(() => undefined)
  const weights = graph.map(() => 0)
  const left = new Set(graph.keys())
  while (left.size > 0) {
    let [next, weight, degree] = [-1, -1, -1]
    for (const vertex of left) {
      const [mine, neighbours] = [weights[vertex] ?? 0, graph[vertex]?.length ?? 0]
      if (mine > weight || (mine === weight && neighbours >= degree)) {
        ;[next, weight, degree] = [vertex, mine, neighbours]
      }
    }
    left.delete(next)
    colors[next] = freeColor(graph, colors, next)
    for (const other of graph[next] ?? []) weights[other] = weigh(colorsAround(graph, colors, other))
  }
  return colors
}

function freeColor(graph: Graph, colors: Colors, vertex: number): number {
  const taken = new Set(colorsAround(graph, colors, vertex))
  let color = 0
  while (taken.has(color)) color++
  return color
}

const colorsAround = (graph: Graph, colors: Colors, vertex: number): number[] =>
  (graph[vertex] ?? []).flatMap((other) => colors[other] ?? [])

function classes(colors: Colors): number[][] {
  const found: number[][] = []
  colors.forEach((color = 0, vertex) => (found[color] ??= []).push(vertex))
  return found
}
