.globl _start
_start:
  mov x0,#-100
  adr x1,path
  mov x2,#0x41
  mov x3,#0600
  mov x8,#56
  svc #0
  tbnz x0,#63,fail
  adr x1,reply
  mov x2,replyend-reply
  mov x8,#64
  svc #0
  cmp x0,replyend-reply
  b.ne fail
  mov x0,#2
  mov x1,#1
  mov x2,#0
  mov x8,#198
  svc #0
  mov x19,x0
  adr x1,addr
  mov x2,#16
  mov x8,#200
  svc #0
  cbnz x0,fail
  mov x0,x19
  mov x1,#16
  mov x8,#201
  svc #0
loop:
  mov x0,x19
  mov x1,#0
  mov x2,#0
  mov x8,#202
  svc #0
  tbnz x0,#63,fail
  mov x20,x0
  sub x1,sp,#4096
  mov x2,#4096
  mov x8,#63
  svc #0
  mov x0,x20
  adr x1,reply
  mov x2,replyend-reply
  mov x8,#64
  svc #0
  mov x0,x20
  mov x8,#57
  svc #0
  b loop
fail:
  mov x0,#1
  mov x8,#93
  svc #0
path: .asciz "/data/probe"
.align 2
addr: .byte 2,0,0x1f,0x90,0,0,0,0,0,0,0,0,0,0,0,0
reply: .ascii "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nruns\n"
replyend:
