// Nodes for tests that do not ask monitoring daemons.
import type { AskMond } from '../../src/rpc/mond/endpoints'
import { MondFailure } from '../../src/rpc/mond/client'

/** No node has a monitoring daemon. */
export const noMonds: AskMond = () => Promise.reject(new MondFailure('refused', 'nothing listens there'))
