// An instance's screen, pointer and sound: VNC, SPICE, or none. Pure.
import { isIP } from 'node:net'
import { PATH } from '../../../model/constants/paths'
import type { InstanceDict } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import { optionValue } from './layout'
import type { KvmParams } from './params'

export const VNC_BASE_PORT = 5900
const { SPICE_CACERT_FILE, SPICE_CERT_FILE } = PATH

export interface Addresses {
  /** Address of a network interface of this node. */
  interfaceAddress(name: string): string | undefined
}

export function displayArguments(instance: InstanceDict, params: KvmParams, facts: Addresses): string[] {
  const vnc = params.text('vnc_bind_address')
  const spice = params.text('spice_bind')
  const mouse = params.text('usb_mouse') || (vnc === '' ? '' : 'tablet')
  const screen =
    vnc !== ''
      ? vncArguments(instance, params, facts)
      : spice !== ''
        ? spiceArguments(instance, params, facts)
        : ['-display', 'none']
  return [
    ...(mouse === '' ? [] : ['-usbdevice', mouse]),
    ...screen,
    ...sound(params.text('soundhw'), spice !== '' ? 'spice' : 'none'),
    ...graphics(params),
  ]
}

function vncArguments(instance: InstanceDict, params: KvmParams, facts: Addresses): string[] {
  const bind = params.text('vnc_bind_address')
  const tls = params.flag('vnc_tls')
  const options = [...(tls ? ['tls-creds=vnctls0'] : []), ...(params.text('vnc_password_file') ? ['password=on'] : [])]
  const place = bind.startsWith('/')
    ? `unix:${optionValue(bind)}/${instance.name}.vnc`
    : vncPlace(bind, instance.network_port ?? 0, facts)
  return [...(tls ? ['-object', vncTls(params)] : []), ...['-vnc', [place, ...options].join(',')]]
}

function vncPlace(bind: string, port: number, facts: Addresses): string {
  const address = addressOf(bind, 'VNC', facts)
  if (port <= VNC_BASE_PORT)
    throw new HypervisorFailure(`VNC: the instance's network port (${port}) is not above ${VNC_BASE_PORT}`)
  const host = address === '0.0.0.0' ? '' : isIP(address) === 6 ? `[${address}]` : address
  return `${host}:${port - VNC_BASE_PORT}`
}

function vncTls(params: KvmParams): string {
  const directory = params.text('vnc_x509_path')
  if (directory === '') return 'tls-creds-anon,id=vnctls0,endpoint=server'
  const verify = params.flag('vnc_x509_verify') ? 'yes' : 'no'
  return `tls-creds-x509,id=vnctls0,endpoint=server,dir=${optionValue(directory)},verify-peer=${verify}`
}

function spiceArguments(instance: InstanceDict, params: KvmParams, facts: Addresses): string[] {
  const port = instance.network_port ?? 0
  const version = params.number('spice_ip_version')
  const ciphers = params.text('spice_tls_ciphers')
  const transport = params.flag('spice_use_tls')
    ? [
        `tls-port=${port}`,
        `x509-cacert-file=${SPICE_CACERT_FILE},x509-key-file=${SPICE_CERT_FILE},x509-cert-file=${SPICE_CERT_FILE}`,
        ...(ciphers === '' ? [] : [`tls-ciphers=${optionValue(ciphers)}`]),
      ]
    : [`port=${port}`]
  const choices: [option: string, parameter: string][] = [
    ['image-compression', 'spice_image_compression'],
    ['jpeg-wan-compression', 'spice_jpeg_wan_compression'],
    ['zlib-glz-wan-compression', 'spice_zlib_glz_wan_compression'],
    ['streaming-video', 'spice_streaming_video'],
  ]
  const agent = params.flag('spice_use_vdagent')
  const options = [
    `addr=${addressOf(params.text('spice_bind'), 'SPICE', facts)}`,
    ...transport,
    ...(params.text('spice_password_file') ? [] : ['disable-ticketing=on']),
    ...(version === 0 ? [] : [`ipv${version}=on`]),
    ...choices.flatMap(([option, name]) => (params.text(name) === '' ? [] : [`${option}=${params.text(name)}`])),
    ...(params.flag('spice_playback_compression') ? [] : ['playback-compression=off']),
    ...(agent ? [] : ['agent-mouse=off']),
  ]
  return [...(agent ? SPICE_AGENT : []), '-spice', options.join(',')]
}

const SPICE_AGENT = [
  ...['-device', 'virtio-serial-pci,id=spice'],
  ...['-device', 'virtserialport,chardev=spicechannel0,name=com.redhat.spice.0'],
  ...['-chardev', 'spicevmc,id=spicechannel0,name=vdagent'],
]

export function sound(model: string, driver: 'spice' | 'none'): string[] {
  return model === '' ? [] : ['-audio', `driver=${driver},model=${optionValue(model)},id=soundhw`]
}

export function graphics(params: KvmParams): string[] {
  const isSpice = params.text('vnc_bind_address') === '' && params.text('spice_bind') !== ''
  const card = params.text('vga') || (isSpice ? 'qxl' : '')
  return card === '' ? [] : ['-vga', card]
}

function addressOf(bind: string, what: string, facts: Addresses): string {
  const address = isIP(bind) ? bind : facts.interfaceAddress(bind)
  if (address !== undefined) return address
  throw new HypervisorFailure(`${what}: ${bind} is neither an address nor an interface of this node that has one`)
}
