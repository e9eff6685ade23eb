// Options that only gnt-os has.
import { value } from '../input/option'

export const oBlacklisted = value('--blacklisted', 'blacklisted', 'bool', 'blacklist the OS', { metavar: 'yes|no' })
export const oHidden = value('--hidden', 'hidden', 'bool', 'hide the OS', { metavar: 'yes|no' })
