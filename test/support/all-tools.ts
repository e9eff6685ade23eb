// All tools at once, for tests that have a case for each command: the product loads the one that it needs.
import { allocationTool } from '../../src/cli/allocation'
import { backupTool } from '../../src/cli/backup'
import { clusterTool } from '../../src/cli/cluster'
import { debugTool } from '../../src/cli/debug'
import { filterTool } from '../../src/cli/filter'
import { groupTool } from '../../src/cli/group'
import { instanceTool } from '../../src/cli/instance'
import { jobTool } from '../../src/cli/job'
import { networkTool } from '../../src/cli/network'
import { nodeTool } from '../../src/cli/node'
import { osTool } from '../../src/cli/os'
import { storageTool } from '../../src/cli/storage'
import { tokenTool } from '../../src/cli/token'
import type { Tool } from '../../src/cli/command'

export const ALL_TOOLS: readonly Tool[] = [
  allocationTool,
  backupTool,
  clusterTool,
  debugTool,
  filterTool,
  groupTool,
  instanceTool,
  jobTool,
  networkTool,
  nodeTool,
  osTool,
  storageTool,
  tokenTool,
]
