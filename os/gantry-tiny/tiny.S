# The guest of the bundled OS: one boot sector of 16-bit code that talks on COM1.
#
#   READY <banner>    at its start, and again whenever Enter is typed
#   Tnnnn             each second, n counting up; a guest that was migrated goes on counting
#   anything typed    is echoed
#   ctrl-W, ctrl-R    write the count to the disk's second sector; read it back and show it as Dnnnn
#   q, power button   "POWEROFF", and the machine switches itself off
#
# Build:  as --32 -o tiny.o tiny.S && ld -m elf_i386 -Ttext 0x7c00 --oformat binary -o tiny.bin tiny.o
# The result is kept in boot.octal; a test compares the two. The banner's place is known to the create script.

.set COM1,        0x3f8
.set PIC,         0x20
.set PM_STATUS,   0x600           # PM1 event block, where QEMU's pc and q35 firmware put it
.set PM_ENABLE,   0x602
.set PM_CONTROL,  0x604
.set POWER_BUTTON, 0x100
.set SOFT_OFF,    0x2000          # SLP_EN with sleep type 0
.set BIOS_TICKS,  0x46c           # counts 18.2 a second
.set SECTOR,      0x8000

.code16
.globl _start
_start:
        ljmp    $0, $init
init:   xorw    %ax, %ax
        movw    %ax, %ds
        movw    %ax, %es
        movw    %ax, %ss
        movw    $0x7c00, %sp
        movb    %dl, drive
        # The serial line wakes the processor: FIFO on, interrupts on, line 4 of the controller open.
        movw    $receive, 0x0c * 4
        movw    %ax, 0x0c * 4 + 2
        movw    $COM1 + 2, %dx
        movb    $1, %al
        outb    %al, %dx
        decw    %dx
        outb    %al, %dx
        movw    $COM1 + 4, %dx
        movb    $0x0b, %al
        outb    %al, %dx
        inb     $PIC + 1, %al
        andb    $0xef, %al
        outb    %al, $PIC + 1
        # A power button that is not enabled is not reported.
        movw    $PM_ENABLE, %dx
        movw    $POWER_BUTTON, %ax
        outw    %ax, %dx
        sti
        call    ready

loop:   hlt
        movw    $PM_STATUS, %dx
        inw     %dx, %ax
        cmpw    $0xffff, %ax          # nothing there: a machine without ACPI
        je      time
        testw   $POWER_BUTTON, %ax
        jnz     off
time:   movw    BIOS_TICKS, %ax
        movw    %ax, %bx
        subw    last, %bx
        cmpw    $18, %bx
        jb      keys
        movw    %ax, last
        movw    count, %ax            # decimal, so that the count reads as seconds
        addb    $1, %al
        daa
        xchgb   %al, %ah
        adcb    $0, %al
        daa
        xchgb   %al, %ah
        movw    %ax, count
        movb    $'T', %bl
        call    number
keys:   movw    $COM1 + 5, %dx
        inb     %dx, %al
        cmpb    $0xff, %al            # nothing there: a machine without a serial line
        je      loop
        testb   $1, %al
        jz      loop
        movw    $COM1, %dx
        inb     %dx, %al
        movw    $keys, %bx            # each handler returns to look for more
        pushw   %bx
        cmpb    $'q', %al
        je      off
        cmpb    $13, %al
        je      ready
        cmpb    $0x17, %al
        je      write
        cmpb    $0x12, %al
        jne     put

        movw    $0x0201, %ax          # read
        call    disk
        movw    SECTOR, %ax
        movb    $'D', %bl

# A letter in bl, four digits of ax, end of line.
number: pushw   %ax
        movb    %bl, %al
        call    put
        popw    %ax
        movw    $4, %cx
digit:  rolw    $4, %ax
        pushw   %ax
        andb    $15, %al
        orb     $'0', %al
        call    put
        popw    %ax
        loop    digit
        movw    $line, %si
        jmp     puts

write:  movw    count, %ax
        movw    %ax, SECTOR
        movw    $0x0301, %ax
disk:   movw    $SECTOR, %bx
        movw    $2, %cx               # cylinder 0, sector 2
        movb    drive, %dl
        movb    $0, %dh
        int     $0x13
        ret

ready:  movw    $hello, %si
        call    puts
        movw    $banner, %si
        call    puts
        movw    $line, %si

puts:   lodsb
        testb   %al, %al
        jz      done
        call    put
        jmp     puts

put:    pushw   %dx
        pushw   %ax
        movw    $COM1 + 5, %dx
full:   inb     %dx, %al
        testb   $0x20, %al
        jz      full
        popw    %ax
        movw    $COM1, %dx
        outb    %al, %dx
        popw    %dx
done:   ret

off:    movw    $bye, %si
        call    puts
        movw    $PM_CONTROL, %dx
        movw    $SOFT_OFF, %ax
        outw    %ax, %dx
halt:   hlt
        jmp     halt

receive:
        pushw   %ax
        movb    $0x20, %al
        outb    %al, $PIC
        popw    %ax
        iret

hello:  .asciz  "READY "
bye:    .asciz  "POWEROFF"
line:   .asciz  "\r\n"
drive:  .byte   0
last:   .word   0
count:  .word   0

        .org    416
banner: .asciz  "gantry-tiny"
        .org    440                   # the rest is the partition table's
        .org    510
        .word   0xaa55
