// The permissions that a user with roles needs to read from /2, as in Ganeti's role-based access control. Requests that submit a job are checked
// where their opcode is known.
import type { PatternRoute } from '../../http/route-tree'

const PERMISSIONS: ReadonlyMap<string, string> = new Map([
  ['get /2/info', 'cluster.info'],
  ['get /2/tags', 'tags.get'],
  ['get /2/os', 'os.list'],
  ['get /2/query/:resource', 'query.all'],
  ['put /2/query/:resource', 'query.all'],
  ['get /2/query/:resource/fields', 'query.all'],
  ['get /2/nodes/:name/role', 'nodes.role.query'],
  ['get /2/instances/:name/console', 'instances.query.console'],
  ['get /2/jobs', 'jobs.list'],
  ['get /2/jobs/:id', 'jobs.query'],
  ['get /2/jobs/:id/wait', 'jobs.wait'],
  ['get /2/filters', 'filter.list'],
  ['get /2/filters/:uuid', 'filter.query'],
  ...['instances', 'nodes', 'groups', 'networks'].flatMap((kind): [string, string][] => [
    [`get /2/${kind}`, `${kind}.list`],
    [`get /2/${kind}/:name`, `${kind}.query`],
    [`get /2/${kind}/:name/tags`, 'tags.get'],
  ]),
])

export const readPermission = ({ verb, path }: Pick<PatternRoute, 'verb' | 'path'>): string | undefined =>
  PERMISSIONS.get(`${verb} ${path}`)
