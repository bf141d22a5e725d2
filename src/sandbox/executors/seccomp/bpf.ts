/**
 * Classic BPF as the kernel's seccomp takes it: instructions of eight bytes that load words of `struct seccomp_data` and return a
 * verdict. Jumps only lead forward, at most 255 instructions.
 */

export interface Instruction {
  readonly code: number;
  /** Instructions to skip when a comparison holds. */
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly operand: number;
}

/** `BPF_LD | BPF_W | BPF_ABS`: a word of `struct seccomp_data`. */
export const LOAD = 0x20;
/** `BPF_JMP | BPF_JEQ | BPF_K` and its relatives. */
export const JUMP_EQUAL = 0x15;
export const JUMP_AT_LEAST = 0x35;
export const JUMP_ANY_BIT = 0x45;
/** `BPF_RET | BPF_K`. */
export const RETURN = 0x06;

/** Offsets in `struct seccomp_data`. */
export const NUMBER_OFFSET = 0;
export const ARCHITECTURE_OFFSET = 4;

/** The low half of an argument: both processors are little-endian, and every argument judged here is an `int`. */
export function argumentOffset(index: number): number {
  return 16 + 8 * index;
}

export function load(offset: number): Instruction {
  return { code: LOAD, whenTrue: 0, whenFalse: 0, operand: offset };
}

/** Goes on with the next instruction when the comparison holds, and skips `otherwise` of them when not. */
export function unlessSkip(code: number, operand: number, otherwise: number): Instruction {
  return { code, whenTrue: 0, whenFalse: otherwise, operand };
}

export function verdict(value: number): Instruction {
  return { code: RETURN, whenTrue: 0, whenFalse: 0, operand: value };
}

/** As `struct sock_filter[]`. */
export function encodeProgram(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  for (const [at, { code, whenTrue, whenFalse, operand }] of program.entries()) {
    if (whenTrue > 255 || whenFalse > 255) throw new RangeError('a jump of more than 255 instructions');
    view.setUint16(at * 8, code, true);
    view.setUint8(at * 8 + 2, whenTrue);
    view.setUint8(at * 8 + 3, whenFalse);
    view.setUint32(at * 8 + 4, operand, true);
  }
  return new Uint8Array(view.buffer);
}
