/** Accessors for responses of an engine, which are untrusted data. */
import { readField } from '#core';

/** The value at a path of keys, or `undefined`. */
export function field(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce(readField, value);
}

export function textField(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberField(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function listField(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textsField(value: unknown): readonly string[] {
  return listField(value).filter((item) => typeof item === 'string');
}
