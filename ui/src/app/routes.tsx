// Every address of the console, and the page that it shows. A page is loaded when it is first shown.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from '@tanstack/react-router'
import type { CreateSearch } from '../pages/instances/create-page'
import type { InstanceSearch } from '../pages/instances/instance-page'
import type { InstancesSearch } from '../pages/instances/list-page'
import type { JobsSearch } from '../pages/jobs/list-page'
import type { NodesSearch } from '../pages/nodes/list-page'
import { Page } from '../parts/page'
import { ProblemBox } from '../parts/problem-box'
import { texts } from '../texts'
import { Shell } from './shell'

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Page title={texts.notFound.title}>
      <Link to="/">{texts.notFound.home}</Link>
    </Page>
  ),
  errorComponent: ({ error }) => <ProblemBox error={error} retry={() => location.reload()} />,
})

const getParentRoute = () => root

/** The texts among what an address asks for; everything else is left out. */
function textsOf<Name extends string>(search: Readonly<Record<string, unknown>>, names: readonly Name[]) {
  const given = names.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : []
  })
  return Object.fromEntries(given) as { [N in Name]?: string }
}

const routes = [
  createRoute({
    ...{ getParentRoute, path: '/' },
    component: lazyRouteComponent(() => import('../pages/overview/overview-page'), 'OverviewPage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/instances' },
    validateSearch: (search): InstancesSearch => textsOf(search, ['q', 'status', 'node', 'tag', 'sort', 'cols']),
    component: lazyRouteComponent(() => import('../pages/instances/list-page'), 'InstancesPage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/instances/new' },
    validateSearch: (search): CreateSearch => textsOf(search, ['node', 'export']),
    component: lazyRouteComponent(() => import('../pages/instances/create-page'), 'CreatePage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/instances/$name' },
    validateSearch: (search): InstanceSearch => textsOf(search, ['tab']),
    component: lazyRouteComponent(() => import('../pages/instances/instance-page'), 'InstancePage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/nodes' },
    validateSearch: (search): NodesSearch => textsOf(search, ['q', 'sort']),
    component: lazyRouteComponent(() => import('../pages/nodes/list-page'), 'NodesPage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/nodes/$name' },
    component: lazyRouteComponent(() => import('../pages/nodes/node-page'), 'NodePage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/groups' },
    component: lazyRouteComponent(() => import('../pages/groups/list-page'), 'GroupsPage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/networks' },
    component: lazyRouteComponent(() => import('../pages/networks/list-page'), 'NetworksPage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/jobs' },
    validateSearch: (search): JobsSearch => textsOf(search, ['status', 'sort']),
    component: lazyRouteComponent(() => import('../pages/jobs/list-page'), 'JobsPage'),
  }),
  createRoute({
    ...{ getParentRoute, path: '/jobs/$id' },
    component: lazyRouteComponent(() => import('../pages/jobs/job-page'), 'JobPage'),
  }),
] as const

export const router = createRouter({ routeTree: root.addChildren(routes), basepath: '/ui', defaultPreload: 'intent' })

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
