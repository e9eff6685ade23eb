// The commands by which an administrator mends what is left of volumes and mirrors on a node: those of LVM and DRBD, or, on a node with
// storage in user space, those for its files.
import { USER_SPACE_VERSION } from '../../../model/constants/disks'
import { PATH } from '../../../model/constants/paths'
import type { NodeImage } from './group-state'

type Answered = Pick<NodeImage, 'answer'>

const isInUserSpace = ({ answer }: Answered): boolean => answer['drbd-version'] === USER_SPACE_VERSION

/** A volume in user space is a file, and has another one for its tags. */
const placesOf = (vg: string): string[] => ['volumes', 'tags'].map((place) => `${PATH.USER_VOLUMES_DIR}/${vg}/${place}`)

export const removal = (image: Answered, vg: string, volume: string): string =>
  isInUserSpace(image)
    ? `rm ${placesOf(vg)
        .map((place) => `${place}/${volume}`)
        .join(' ')}`
    : `lvremove ${vg}/${volume}`

export const renaming = (image: Answered, vg: string, from: string, to: string): string =>
  isInUserSpace(image)
    ? placesOf(vg)
        .map((place) => `mv ${place}/${from} ${place}/${to}`)
        .join(' && ')
    : `lvrename ${vg} ${from} ${to}`

/** What becomes of a minor that belongs to no disk. */
export const endOfMinor = (image: Answered, minor: number): string =>
  isInUserSpace(image)
    ? 'the next disk that gets this minor ends it'
    : `if nobody needs it, end it there with 'drbdsetup down resource${minor}'`
