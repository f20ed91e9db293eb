.intel_syntax noprefix
.globl _start
_start:
  mov eax,2
  lea rdi,[rip+path]
  mov esi,0x41
  mov edx,0600
  syscall
  test eax,eax
  js fail
  mov edi,eax
  mov eax,1
  lea rsi,[rip+reply]
  mov edx,replyend-reply
  syscall
  cmp eax,replyend-reply
  jne fail
  mov eax,41
  mov edi,2
  mov esi,1
  xor edx,edx
  syscall
  mov ebx,eax
  mov eax,49
  mov edi,ebx
  lea rsi,[rip+addr]
  mov edx,16
  syscall
  test eax,eax
  jnz fail
  mov eax,50
  mov edi,ebx
  mov esi,16
  syscall
loop:
  mov eax,43
  mov edi,ebx
  xor esi,esi
  xor edx,edx
  syscall
  test eax,eax
  js fail
  mov ebp,eax
  xor eax,eax
  mov edi,ebp
  lea rsi,[rsp-4096]
  mov edx,4096
  syscall
  mov eax,1
  mov edi,ebp
  lea rsi,[rip+reply]
  mov edx,replyend-reply
  syscall
  mov eax,3
  mov edi,ebp
  syscall
  jmp loop
fail:
  mov eax,60
  mov edi,1
  syscall
path: .asciz "/data/probe"
.align 4
addr: .byte 2,0,0x1f,0x90,0,0,0,0,0,0,0,0,0,0,0,0
reply: .ascii "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nruns\n"
replyend:
