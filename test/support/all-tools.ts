// All tools at once, for tests that have a case for each command. The product loads only the one that it needs.
import { allocationTool } from '../../src/cli/allocation/tool'
import { backupTool } from '../../src/cli/backup/tool'
import { clusterTool } from '../../src/cli/cluster/tool'
import { debugTool } from '../../src/cli/debug/tool'
import { filterTool } from '../../src/cli/filter/tool'
import { groupTool } from '../../src/cli/group/tool'
import { instanceTool } from '../../src/cli/instance/tool'
import { jobTool } from '../../src/cli/job/tool'
import { networkTool } from '../../src/cli/network/tool'
import { nodeTool } from '../../src/cli/node/tool'
import { osTool } from '../../src/cli/os/tool'
import { storageTool } from '../../src/cli/storage/tool'
import { tokenTool } from '../../src/cli/token/tool'
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
