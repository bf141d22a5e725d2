import {
  ARCHITECTURE_OFFSET,
  JUMP,
  JUMP_ABOVE,
  JUMP_ANY_BIT,
  JUMP_AT_LEAST,
  JUMP_EQUAL,
  LOAD,
  NUMBER_OFFSET,
  RETURN,
  type Instruction,
} from '../../src/sandbox/executors/seccomp/bpf.ts';

/** What the kernel hands to a filter. */
export interface SystemCall {
  readonly number: number;
  readonly architecture: number;
  readonly args?: readonly bigint[];
}

/** Reads the bytes back as the kernel would. */
export function decodeProgram(bytes: Uint8Array): readonly Instruction[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 8 }, (_, at) => ({
    code: view.getUint16(at * 8, true),
    whenTrue: view.getUint8(at * 8 + 2),
    whenFalse: view.getUint8(at * 8 + 3),
    operand: view.getUint32(at * 8 + 4, true),
  }));
}

/** Runs a filter the way `bpf_prog_run` does; throws where the kernel would not have loaded it. */
export function verdictOf(program: readonly Instruction[], call: SystemCall): number {
  return runFilter(program, call).verdict;
}

export interface FilterRun {
  readonly verdict: number;
  /** Instructions that were executed. */
  readonly steps: number;
  /** Where a call was judged, once its number was known: the first instruction that is no comparison with it. */
  readonly rule: number;
}

export function runFilter(program: readonly Instruction[], call: SystemCall): FilterRun {
  const data = seccompData(call);
  let accumulator = 0;
  let isNumber = false;
  let rule: number | undefined;
  for (let at = 0, steps = 1; at < program.length; steps += 1) {
    const instruction = program[at];
    if (instruction === undefined) break;
    const { code, operand, whenTrue, whenFalse } = instruction;
    if (isNumber && (code === RETURN || code === LOAD)) rule ??= at;
    if (code === RETURN) return { verdict: operand, steps, rule: rule ?? at };
    if (code === LOAD) {
      isNumber = operand === NUMBER_OFFSET;
      if (operand % 4 !== 0 || operand >= data.byteLength) throw new RangeError(`a load at ${String(operand)}`);
      accumulator = data.getUint32(operand, true);
      at += 1;
    } else if (code === JUMP) {
      at += 1 + operand;
    } else {
      at += 1 + (holds(code, accumulator, operand) ? whenTrue : whenFalse);
    }
  }
  throw new RangeError('the program ends without a verdict');
}

function holds(code: number, accumulator: number, operand: number): boolean {
  if (code === JUMP_EQUAL) return accumulator === operand;
  if (code === JUMP_ABOVE) return accumulator > operand;
  if (code === JUMP_AT_LEAST) return accumulator >= operand;
  if (code === JUMP_ANY_BIT) return (accumulator & operand) !== 0;
  throw new RangeError(`the instruction ${code.toString(16)}`);
}

function seccompData({ number, architecture, args = [] }: SystemCall): DataView {
  const view = new DataView(new ArrayBuffer(64));
  view.setUint32(NUMBER_OFFSET, number, true);
  view.setUint32(ARCHITECTURE_OFFSET, architecture, true);
  for (const [at, value] of args.entries()) view.setBigUint64(16 + 8 * at, BigInt.asUintN(64, value), true);
  return view;
}

/** A listing that a person can check line by line, and behind it where each call by name is judged. */
export function listing(
  program: readonly Instruction[],
  names: ReadonlyMap<number, string>,
  architecture: number,
): string {
  let isNumber = false;
  const lines = program.map(({ code, whenTrue, whenFalse, operand }, at) => {
    const line = String(at).padStart(4);
    const hex = `0x${operand.toString(16)}`;
    const jumps = `then ${String(at + 1 + whenTrue)} else ${String(at + 1 + whenFalse)}`;
    switch (code) {
      case LOAD:
        isNumber = operand === NUMBER_OFFSET;
        return `${line}  load ${fieldName(operand)}`;
      case JUMP_EQUAL:
        return `${line}  = ${(isNumber ? names.get(operand) : undefined) ?? hex}  ${jumps}`;
      case JUMP:
        return `${line}  go to ${String(at + 1 + operand)}`;
      case JUMP_ABOVE:
        return `${line}  > ${hex}  ${jumps}`;
      case JUMP_AT_LEAST:
        return `${line}  >= ${isNumber ? String(operand) : hex}  ${jumps}`;
      case JUMP_ANY_BIT:
        return `${line}  & ${hex}  ${jumps}`;
      default:
        return `${line}  return ${returnName(operand)}`;
    }
  });
  const calls = [...names]
    .toSorted(([a], [b]) => a - b)
    .map(
      ([number, name]) =>
        `${String(number).padStart(4)}  ${name}  ${String(runFilter(program, { number, architecture }).rule)}`,
    );
  return `${[...lines, '', ...calls].join('\n')}\n`;
}

function fieldName(offset: number): string {
  if (offset === NUMBER_OFFSET) return 'number';
  return offset === ARCHITECTURE_OFFSET ? 'architecture' : `argument ${String((offset - 16) / 8)}`;
}

function returnName(value: number): string {
  if (value === 0x7fff0000) return 'ALLOW';
  return value === 0x80000000 ? 'KILL' : `ERRNO ${String(value & 0xffff)}`;
}
