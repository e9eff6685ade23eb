// A wconfd in memory: keeps one configuration, knows the changes that luxid makes, and holds no locks.
import { withGantryValue } from '../../src/config/gantry'
import { removeFilterRule, setFilterRule } from '../../src/config/changes/filter'
import type { ConfigData, GantryData, FilterRule } from '../../src/model/config'
import { systemRandom } from '../../src/lib/random'
import { GenericError } from '../../src/model/errors'
import { wconfdOf } from './job-surroundings'
import type { NamedChange, Wconfd } from '../../src/rpc/wconfd/calls'

export class FakeWconfd {
  gantry: GantryData = { version: 1, serial_no: 1, sections: {} }
  private readonly followers: ((config: ConfigData, delta: null) => void)[] = []

  constructor(public config: ConfigData) {}

  readonly follow = async (onConfig: (config: ConfigData, delta: null) => void) => {
    this.followers.push(onConfig)
    onConfig(this.config, null)
    return { close: () => undefined, gantry: () => this.gantry }
  }

  set(config: ConfigData): void {
    this.config = config
    for (const tell of this.followers) tell(config, null)
  }

  get calls(): Wconfd {
    return wconfdOf({
      gantryChange: async (_client, _epoch, changes) => changes.map((change) => this.change(change)),
      gantryOwnerDied: async () => [],
      listLocks: async () => [],
      listLocksWaitingStatus: async () => [[], []],
      cleanupLocks: async () => null,
      readConfig: async () => this.config,
    })
  }

  private change([name, argument, ...more]: NamedChange): null {
    if (name === 'setGantry') {
      const [key, value] = more
      this.gantry = withGantryValue(this.gantry, String(argument), String(key), value)
      this.set(this.config)
      return null
    }
    const context = { now_s: 1, random: systemRandom }
    if (name === 'setFilterRule') this.set(setFilterRule(this.config, context, argument as FilterRule).config)
    else if (name === 'removeFilterRule') this.set(removeFilterRule(this.config, context, String(argument)).config)
    else throw new GenericError(`no change ${name} here`)
    return null
  }
}
