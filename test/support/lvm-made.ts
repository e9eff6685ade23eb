// Instances on logical volumes, in tests of the master's side: nodes do not make such disks yet, simulated ones do.
import { TEMPLATES } from '../../src/model/templates'

for (const template of [TEMPLATES.plain, TEMPLATES.drbd]) Object.assign(template, { made: true })
