# cable.py TAP SPACE: takes the place of a guest behind TAP. What the network namespace SPACE sends through its device eth0 comes out of TAP, and
# the other way round. Prints a line when it is ready.
import fcntl
import os
import select
import struct
import subprocess
import sys

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
LARGEST = 65536
tap, space = sys.argv[1], sys.argv[2]


def opened(name):
    device = os.open('/dev/net/tun', os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack('16sH22x', name.encode(), IFF_TAP | IFF_NO_PI))
    return device


def ip(*words):
    subprocess.run(['ip', *words], check=True)


ip('netns', 'add', space)
ends = [opened(tap), opened(f'end-{space}')]
ip('link', 'set', f'end-{space}', 'netns', space, 'name', 'eth0')
for device in ('lo', 'eth0'):
    ip('-n', space, 'link', 'set', device, 'up')
print('ready', flush=True)
while True:
    for end in select.select(ends, [], [])[0]:
        frame = os.read(end, LARGEST)
        try:
            os.write(ends[0] if end == ends[1] else ends[1], frame)
        except OSError:
            # That end is not up, so nobody hears it.
            pass
