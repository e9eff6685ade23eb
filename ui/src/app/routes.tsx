// The routes of the console. The code of a page is loaded when the page is first shown.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from '@tanstack/react-router'
import type { AccessSearch } from '../pages/access/access-page'
import type { ExportsSearch } from '../pages/exports/exports-page'
import type { RulesSearch } from '../pages/rules/rules-page'
import type { CreateSearch } from '../pages/instances/create-page'
import type { InstanceSearch } from '../pages/instances/instance-page'
import type { ClusterSearch } from '../pages/cluster/cluster-page'
import type { ConsoleSearch } from '../pages/console/console-page'
import type { InstancesSearch } from '../pages/instances/list-page'
import type { JobsSearch } from '../pages/jobs/list-page'
import type { LocksSearch } from '../pages/jobs/locks-page'
import type { NodesSearch } from '../pages/nodes/list-page'
import type { StorageSearch } from '../pages/storage/storage-page'
import type { TagsSearch } from '../pages/tags/tags-page'
import type { TopologySearch } from '../pages/topology/topology-page'
import { Page } from '../parts/page'
import { texts } from '../texts'
import { BrokenPage, filesOf } from './page-files'
import { Shell } from './shell'

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Page title={texts.notFound.title}>
      <Link to="/">{texts.notFound.home}</Link>
    </Page>
  ),
  errorComponent: BrokenPage,
})

const getParentRoute = () => root

/** The given search parameters of an address that are texts; all others are dropped. */
function textsOf<Name extends string>(search: Readonly<Record<string, unknown>>, names: readonly Name[]) {
  const input = names.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : []
  })
  return Object.fromEntries(input) as { [N in Name]?: string }
}

const routes = [
  createRoute({
    ...{ getParentRoute, path: '/' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/overview/overview-page')),
      'OverviewPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/topology' },
    validateSearch: (search): TopologySearch => textsOf(search, ['group', 'mode', 'node', 'view']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/topology/topology-page')),
      'TopologyPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/instances' },
    validateSearch: (search): InstancesSearch =>
      textsOf(search, ['q', 'status', 'group', 'node', 'tag', 'os', 'sort', 'cols']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/instances/list-page')),
      'InstancesPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/instances/new' },
    validateSearch: (search): CreateSearch => textsOf(search, ['node', 'export', 'again']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/instances/create-page')),
      'CreatePage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/instances/$name' },
    validateSearch: (search): InstanceSearch => textsOf(search, ['tab']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/instances/instance-page')),
      'InstancePage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/instances/$name/console' },
    validateSearch: (search): ConsoleSearch => textsOf(search, ['kind', 'bare']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/console/console-page')),
      'ConsolePage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/nodes' },
    validateSearch: (search): NodesSearch => textsOf(search, ['q', 'role', 'sort']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/nodes/list-page')),
      'NodesPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/nodes/$name' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/nodes/node-page')),
      'NodePage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/groups' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/groups/list-page')),
      'GroupsPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/networks' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/networks/list-page')),
      'NetworksPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/jobs' },
    validateSearch: (search): JobsSearch => textsOf(search, ['status', 'q', 'user', 'sort']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/jobs/list-page')),
      'JobsPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/jobs/$id' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/jobs/job-page')),
      'JobPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/groups/$name' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/groups/group-page')),
      'GroupPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/networks/$name' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/networks/network-page')),
      'NetworkPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/locks' },
    validateSearch: (search): LocksSearch => textsOf(search, ['q', 'waited']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/jobs/locks-page')),
      'LocksPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/rules' },
    validateSearch: (search): RulesSearch => textsOf(search, ['q']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/rules/rules-page')),
      'RulesPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/storage' },
    validateSearch: (search): StorageSearch => textsOf(search, ['sort']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/storage/storage-page')),
      'StoragePage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/os' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/os/list-page')),
      'OsPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/os/$name' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/os/os-page')),
      'OneOsPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/exports' },
    validateSearch: (search): ExportsSearch => textsOf(search, ['q']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/exports/exports-page')),
      'ExportsPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/tags' },
    validateSearch: (search): TagsSearch => textsOf(search, ['q']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/tags/tags-page')),
      'TagsPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/maintenance' },
    component: lazyRouteComponent(
      filesOf(() => import('../pages/maintenance/maintenance-page')),
      'MaintenancePage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/access' },
    validateSearch: (search): AccessSearch => textsOf(search, ['q']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/access/access-page')),
      'AccessPage',
    ),
  }),
  createRoute({
    ...{ getParentRoute, path: '/cluster' },
    validateSearch: (search): ClusterSearch => textsOf(search, ['q']),
    component: lazyRouteComponent(
      filesOf(() => import('../pages/cluster/cluster-page')),
      'ClusterPage',
    ),
  }),
] as const

export const router = createRouter({
  ...{ routeTree: root.addChildren(routes), basepath: '/ui', defaultPreload: 'intent' },
  // Shown inside of the shell, which still shows whether the server is reachable.
  defaultErrorComponent: BrokenPage,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
