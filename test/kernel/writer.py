# writer.py DEVICE FIRST SLOTS NUMBER FILE: writes NUMBER, NUMBER + 1, ... to its own blocks of DEVICE for as long as FILE is there, and notes
# in FILE the last one that was acknowledged. Each write opens the device anew: who has it open keeps the node from giving it up.
# writer.py DEVICE FIRST SLOTS: prints what these blocks have.
import mmap
import os
import struct
import sys
import time

BLOCK = 4096
device, first, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
page = mmap.mmap(-1, BLOCK)


def put(number):
    page[:8] = struct.pack('<Q', number)
    opened = os.open(device, os.O_WRONLY | os.O_DIRECT | os.O_DSYNC)
    try:
        os.pwrite(opened, page, (first + number % slots) * BLOCK)
    finally:
        os.close(opened)


def write(number, noted):
    with open(noted, 'r+') as acknowledged:
        while os.path.exists(noted):
            try:
                put(number)
            except OSError:
                time.sleep(0.2)
                continue
            os.pwrite(acknowledged.fileno(), b'%20d\n' % number, 0)
            number += 1
            time.sleep(0.05)


def read():
    opened = os.open(device, os.O_RDONLY | os.O_DIRECT)
    for slot in range(slots):
        os.preadv(opened, [page], (first + slot) * BLOCK)
        print(struct.unpack('<Q', page[:8])[0])


if len(sys.argv) > 4:
    write(int(sys.argv[4]), sys.argv[5])
else:
    read()
