// All texts of the console. Another language is another object of the same type.
import { accessTexts } from './texts/access'
import { clusterTexts } from './texts/cluster'
import { consoleTexts } from './texts/console'
import { conflictTexts, formTexts, planTexts } from './texts/forms'
import { groupTexts } from './texts/groups'
import { instanceTexts } from './texts/instances'
import { jobTexts } from './texts/jobs'
import { maintenanceTexts } from './texts/maintenance'
import { metricsTexts } from './texts/metrics'
import { networkTexts } from './texts/networks'
import { nodeTexts } from './texts/nodes'
import { overviewTexts } from './texts/overview'
import { exportTexts, osTexts, storageTexts, tagTexts } from './texts/systems'
import { topologyTexts } from './texts/topology'

export const texts = {
  product: 'Gantry',
  usage: (used: string, total: string) => `${used} of ${total} in use`,
  more: (count: number) => `and ${count} more`,
  nav: {
    label: 'Sections',
    overview: 'Overview',
    topology: 'Topology',
    instances: 'Instances',
    nodes: 'Nodes',
    groups: 'Groups',
    networks: 'Networks',
    jobs: 'Jobs',
    locks: 'Locks',
    rules: 'Queue rules',
    storage: 'Storage',
    os: 'OS',
    exports: 'Exports',
    tags: 'Tags',
    maintenance: 'Maintenance',
    access: 'Access',
    cluster: 'Cluster',
    open: 'Show the sections',
    close: 'Hide the sections',
  },
  shell: {
    search: 'Search',
    searchHint: 'Instances, nodes, jobs, pages …',
    searchActions: 'What can be done',
    searchNothing: 'Nothing has this name',
    colors: 'Light or dark',
    overlays: 'Dialogs and lists',
    account: (user: string) => `Signed in as ${user}`,
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out everywhere',
    stillSignedIn: 'You are still signed in',
    documentation: 'API documentation',
  },
  connection: {
    live: 'Live',
    connecting: 'Connecting …',
    lost: 'The connection is lost. What you see may be old; it is tried again by itself.',
    denied: 'Not live: you may not see events',
    notLive: 'Not live',
  },
  signIn: {
    title: 'Sign in',
    user: 'User',
    password: 'Password',
    token: 'Token',
    withPassword: 'Password',
    withToken: 'Token',
    how: 'Sign in with',
    submit: 'Sign in',
    ended: 'Your session has ended',
    endedText: 'Sign in again to go on. What you have typed is still there.',
  },
  problems: {
    title: 'This did not work',
    unreachable: 'The server cannot be reached',
    empty: 'The answer was empty',
    defect: 'This is a defect of the console. Load the page again; if it stays, please report it.',
    retry: 'Try again',
    advice: {
      0: 'Check the connection to the master. It is tried again when you ask for it.',
      401: 'Check the name and the password, or the token.',
      403: 'An administrator can give your user or token the permission.',
      404: 'It may have been removed or renamed meanwhile.',
      409: 'Look at its present state, and try again.',
      429: 'Wait a moment, and try again.',
      502: 'The master daemon may just be starting. Try again in a moment.',
      503: 'The cluster has much to do. Try again in a moment.',
      504: 'The master daemon is slow or away. Try again in a moment.',
    } as Readonly<Record<number, string>>,
  },
  table: {
    empty: 'There is nothing here',
    noMatch: 'Nothing fits the filter',
    clear: 'Clear the filter',
    loading: 'Loading …',
    count: (loaded: number, more: boolean, [one, many]: readonly [string, string]) =>
      `${loaded}${more ? '+' : ''} ${loaded === 1 ? one : many}`,
    filterName: 'Filter by name',
    actions: 'Actions',
    status: 'Status',
    anyStatus: 'Any status',
    sortBy: (title: string) => `Sort by ${title}`,
  },
  action: {
    cancel: 'Cancel',
    close: 'Close',
    copyCurl: 'Copy as curl',
    copyGnt: 'Copy as gnt',
    copied: 'Copied',
    notAllowed: (permission: string) => `You need the permission ${permission}`,
    typeName: (name: string) => `Type ${name} to confirm`,
    more: 'More actions',
    change: 'Change',
  },
  forms: formTexts,
  plan: planTexts,
  conflict: conflictTexts,
  jobs: jobTexts,
  instances: instanceTexts,
  console: consoleTexts,
  nodes: nodeTexts,
  groups: groupTexts,
  metrics: metricsTexts,
  networks: networkTexts,
  os: osTexts,
  exports: exportTexts,
  storage: storageTexts,
  tags: tagTexts,
  maintenance: maintenanceTexts,
  access: accessTexts,
  cluster: clusterTexts,
  overview: overviewTexts,
  topology: topologyTexts,
  /** What can be done from everywhere, as the search finds it. */
  doing: [
    { id: 'verify', label: clusterTexts.verify.run, permission: 'cluster.verify' },
    { id: 'redistribute', label: clusterTexts.actions.redistribute, permission: 'cluster.redistribute_config' },
    { id: 'pause-watcher', label: maintenanceTexts.pause, permission: 'cluster.modify' },
    { id: 'drain', label: jobTexts.queue.drain, permission: 'cluster.modify' },
    { id: 'undrain', label: jobTexts.queue.undrain, permission: 'cluster.modify' },
    { id: 'add-group', label: groupTexts.actions.add, permission: 'groups.create' },
    { id: 'add-network', label: networkTexts.actions.add, permission: 'networks.create' },
    { id: 'add-node', label: nodeTexts.actions.add, permission: 'nodes.add' },
    { id: 'add-rule', label: jobTexts.rules.add, permission: 'filter.create' },
    { id: 'make-token', label: accessTexts.make, permission: 'tokens.create' },
  ],
  notFound: { title: 'There is no such page', home: 'To the overview' },
}
