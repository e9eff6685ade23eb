// If a job cannot be read, the error names the wrong parameter and what it should be.
import { readJobRequest } from '../../../../src/daemons/rapi/v3/job-request'

const CREATE = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'vm1', mode: 'create', nics: [], disks: [] }

test.each<[unknown, string | RegExp]>([
  [{ OP_ID: 'OP_TAGS_ADD' }, /^ops\[0\]\.OP_ID: there is no such opcode; there are OP_TAGS_\w+, .*OP_TAGS_SET/],
  [{ OP_ID: 'constructor' }, 'ops[0].OP_ID: there is no such opcode; all are listed at /docs'],
  [{ OP_ID: 'OP_TEST_DELAY', duration: 'x' }, /^ops\[0\]\.duration must be a number: /],
  [{ OP_ID: 'OP_TEST_DELAY' }, /^ops\[0\]\.duration is missing, and must be a number: /],
  [{ OP_ID: 'OP_TEST_DELAY', nosuch: 1 }, /^ops\[0\]\.nosuch: OP_TEST_DELAY has no such parameter; it has duration, /],
  [{ ...CREATE, mode: 'make' }, /^ops\[0\]\.mode must be one of "create", "import", "remote-import": /],
  [{ ...CREATE, disks: {} }, /^ops\[0\]\.disks must be a list, each an object: /],
  [{ ...CREATE, osparams_secret: 'geheim' }, /^ops\[0\]\.osparams_secret must be an object/],
  [{ OP_ID: 'OP_TAGS_SET', kind: 'node', name: 'n', tags: ['a', 1] }, /^ops\[0\]\.tags must be a list, each a text/],
])('%j', (op, text) => {
  expect(() => readJobRequest({ ops: [op] })).toThrow(text)
})
