/**
 * Classic BPF for seccomp: instructions of eight bytes that load words of `struct seccomp_data` and return an action. Jumps only go
 * forward, by at most 255 instructions.
 */

export interface Instruction {
  readonly code: number;
  /** Instructions to skip when the comparison is true. */
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly operand: number;
}

/** `BPF_LD | BPF_W | BPF_ABS`: a word of `struct seccomp_data`. */
export const LOAD = 0x20;
/** `BPF_JMP | BPF_JEQ | BPF_K`, `BPF_JGE`, `BPF_JSET`. */
export const JUMP_EQUAL = 0x15;
export const JUMP_AT_LEAST = 0x35;
export const JUMP_ANY_BIT = 0x45;
/** `BPF_RET | BPF_K`. */
export const RETURN = 0x06;

/** Offsets in `struct seccomp_data`. */
export const NUMBER_OFFSET = 0;
export const ARCHITECTURE_OFFSET = 4;

/** Offset of the low half of an argument: both architectures are little-endian, and every argument checked here is an `int`. */
export function argumentOffset(index: number): number {
  return 16 + 8 * index;
}

export function load(offset: number): Instruction {
  return { code: LOAD, whenTrue: 0, whenFalse: 0, operand: offset };
}

/** Continues with the next instruction when the comparison is true, otherwise skips `otherwise` instructions. */
export function unlessSkip(code: number, operand: number, otherwise: number): Instruction {
  return { code, whenTrue: 0, whenFalse: otherwise, operand };
}

export function verdict(value: number): Instruction {
  return { code: RETURN, whenTrue: 0, whenFalse: 0, operand: value };
}

/** Encodes the program as `struct sock_filter[]`. */
export function encodeProgram(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  for (const [at, { code, whenTrue, whenFalse, operand }] of program.entries()) {
    if (whenTrue > 255 || whenFalse > 255) throw new RangeError('BPF jumps are limited to 255 instructions');
    view.setUint16(at * 8, code, true);
    view.setUint8(at * 8 + 2, whenTrue);
    view.setUint8(at * 8 + 3, whenFalse);
    view.setUint32(at * 8 + 4, operand, true);
  }
  return new Uint8Array(view.buffer);
}
