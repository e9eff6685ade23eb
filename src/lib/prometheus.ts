// The parts of prom-client that we use, loaded file by file. The whole package would load eighty more files with
// measurements that we do not need.
import type * as whole from 'prom-client'

export type Counter<L extends string = string> = whole.Counter<L>
export const Counter: typeof whole.Counter = require('prom-client/lib/counter')

export type Gauge<L extends string = string> = whole.Gauge<L>
export const Gauge: typeof whole.Gauge = require('prom-client/lib/gauge')

export type Histogram<L extends string = string> = whole.Histogram<L>
export const Histogram: typeof whole.Histogram = require('prom-client/lib/histogram')

export type Registry = whole.Registry
export const Registry: typeof whole.Registry = require('prom-client/lib/registry')

export const AggregatorRegistry: typeof whole.AggregatorRegistry = require('prom-client/lib/cluster')
