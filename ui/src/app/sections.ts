// The sections of the console, in the order of the navigation.
import type { IconName } from '../icons/icon'
import type { texts } from '../texts'

export const SECTIONS = [
  { to: '/', icon: 'overview' },
  { to: '/topology', icon: 'topology' },
  { to: '/instances', icon: 'instances' },
  { to: '/nodes', icon: 'nodes' },
  { to: '/groups', icon: 'groups' },
  { to: '/networks', icon: 'networks' },
  { to: '/jobs', icon: 'jobs' },
  { to: '/locks', icon: 'locks' },
  { to: '/rules', icon: 'rules' },
  { to: '/storage', icon: 'storage' },
  { to: '/os', icon: 'os' },
  { to: '/exports', icon: 'exports' },
  { to: '/tags', icon: 'tags' },
  { to: '/maintenance', icon: 'maintenance' },
  { to: '/access', icon: 'access' },
  { to: '/cluster', icon: 'cluster' },
] as const satisfies readonly { to: string; icon: IconName & keyof typeof texts.nav }[]
