#include <stdint.h>
enum {
  HALT,
  PUSH,
  ADD,
  SUB,
  MUL,
  LT,
  JZ,
  JMP,
  LD,
  ST,
  DUP,
  DROP,
  XOR,
  SHR,
  AND,
  INC,
  DEC,
  EQ,
  SWAP,
  OVER,
  NEG,
  NOT,
  LDA,
  STA,
  MOD,
  NOP
};
static int mem[1024];
static int stack[256];
static int prog[256];
__attribute__((noinline)) static int vm(const int *pc) {
  int *sp = stack;
  for (;;) {
    switch (*pc++) {
    case HALT:
      return sp[-1];
    case PUSH:
      *sp++ = *pc++;
      break;
    case ADD:
      sp--;
      sp[-1] += sp[0];
      break;
    case SUB:
      sp--;
      sp[-1] -= sp[0];
      break;
    case MUL:
      sp--;
      sp[-1] *= sp[0];
      break;
    case LT:
      sp--;
      sp[-1] = sp[-1] < sp[0];
      break;
    case JZ: {
      int t = *pc++;
      if (!*--sp)
        pc = prog + t;
      break;
    }
    case JMP:
      pc = prog + *pc;
      break;
    case LD:
      *sp++ = mem[*pc++];
      break;
    case ST:
      mem[*pc++] = *--sp;
      break;
    case DUP:
      *sp = sp[-1];
      sp++;
      break;
    case DROP:
      sp--;
      break;
    case XOR:
      sp--;
      sp[-1] ^= sp[0];
      break;
    case SHR:
      sp--;
      sp[-1] = (uint32_t)sp[-1] >> (sp[0] & 31);
      break;
    case AND:
      sp--;
      sp[-1] &= sp[0];
      break;
    case INC:
      mem[*pc++]++;
      break;
    case DEC:
      mem[*pc++]--;
      break;
    case EQ:
      sp--;
      sp[-1] = sp[-1] == sp[0];
      break;
    case SWAP: {
      int t = sp[-1];
      sp[-1] = sp[-2];
      sp[-2] = t;
      break;
    }
    case OVER:
      *sp = sp[-2];
      sp++;
      break;
    case NEG:
      sp[-1] = -sp[-1];
      break;
    case NOT:
      sp[-1] = ~sp[-1];
      break;
    case LDA:
      sp[-1] = mem[512 + (sp[-1] & 511)];
      break;
    case STA:
      sp -= 2;
      mem[512 + (sp[1] & 511)] = sp[0];
      break;
    case MOD:
      sp--;
      sp[-1] = sp[0] ? (uint32_t)sp[-1] % (uint32_t)sp[0] : 0;
      break;
    case NOP:
      break;
    }
  }
}
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  int i = 0;
#define E(x) prog[i++] = (x)
  E(PUSH);
  E(0);
  E(ST);
  E(0);
  E(PUSH);
  E(1);
  E(ST);
  E(1);
  int L = i;
  E(LD);
  E(0);
  E(PUSH);
  E((int)n);
  E(LT);
  E(JZ);
  int fix = i;
  E(0);
  E(LD);
  E(1);
  E(PUSH);
  E(1103515245);
  E(MUL);
  E(PUSH);
  E(12345);
  E(ADD);
  E(DUP);
  E(PUSH);
  E(13);
  E(SHR);
  E(XOR);
  E(ST);
  E(1);
  E(LD);
  E(1);
  E(LD);
  E(0);
  E(STA);
  E(LD);
  E(1);
  E(PUSH);
  E(1);
  E(AND);
  E(JZ);
  int fx2 = i;
  E(0);
  E(INC);
  E(2);
  E(JMP);
  int fx3 = i;
  E(0);
  prog[fx2] = i;
  E(DEC);
  E(2);
  prog[fx3] = i;
  E(LD);
  E(0);
  E(LDA);
  E(LD);
  E(2);
  E(ADD);
  E(ST);
  E(2);
  E(INC);
  E(0);
  E(JMP);
  E(L);
  prog[fix] = i;
  E(LD);
  E(1);
  E(LD);
  E(2);
  E(XOR);
  E(HALT);
  return vm(prog);
}
